// Pages that show changes as they happen, in a real browser: the list in examples/live-list, and
// the flags of docs/how-to/feature-flags.md.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { make } from "../support/http/api-calls.ts";
import { apikey, passwordOf, project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";
import { fill, type ServedApp, serveApp, textOf } from "./built-app.ts";
import { blocksOf } from "./guide-app.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
const staff = apikey("staff");
let served: Served;
let folder = "";
let list: ServedApp;
let guide: ServedApp;
let browser: Browser;

beforeAll(async () => {
  const team = project(
    "team",
    withUser("kim"),
    withUser("noa"),
    withKey("staff", { role: "Administrators" }),
    withResource("items", { scope: { read: "All", write: "All" }, changes }),
    withRootKey("flags", { initialValue: '{"beta":false}', access: { read: "Anyone" }, changes }),
  );
  served = await serveFrom(await createEmbeddedStore({ directory: ":memory:", clock: systemClock }), [team]);
  await mkdir(join(root, "out"), { recursive: true });
  folder = await mkdtemp(join(root, "out", "live-pages-"));
  const html = (await blocksOf("feature-flags.md")).find(({ language }) => language === "html")?.text ?? "";
  const base = served.origin + served.base;
  await writeFile(join(folder, "index.html"), html.replace("http://127.0.0.1:8080/default/switches", base));
  list = await serveApp(() => join(root, "examples/live-list"));
  guide = await serveApp(() => folder);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.stop();
  list?.close();
  guide?.close();
  await served?.plane.close();
  await served?.store.close();
  await rm(folder, { recursive: true, force: true });
});

const open = () => browser.open({ width: 700, height: 600, scheme: "light" });

/** `before` runs in the page first. */
async function signedIn(name: string, before = ""): Promise<Page> {
  const page = await open();
  await page.goto(`${list.origin}/?api=${encodeURIComponent(served.origin + served.base)}`);
  await page.evaluate(before);
  await fill(page, "#sign-in [name=name]", name);
  await fill(page, "#sign-in [name=password]", passwordOf(name));
  await page.evaluate("document.querySelector('#sign-in').requestSubmit()");
  await page.until(`${textOf("[role=status]")} === 'Live'`);
  return page;
}

const texts = "[...document.querySelectorAll('li')].map((row) => row.innerText.trim().split('\\n')[0]).join()";
const click = (selector: string) => `document.querySelector(${JSON.stringify(selector)}).click()`;

it("the shared list shows what another person adds, ticks off and removes, and less after a reset", async () => {
  await make(served, "items", { text: "Milk" }, staff);
  const [kim, noa] = [await signedIn("kim"), await signedIn("noa")];
  await fill(kim, "#add [name=text]", "Bread");
  await kim.evaluate("document.querySelector('#add').requestSubmit()");
  for (const page of [kim, noa]) await page.until(`${texts} === 'Milk,Bread'`);
  await noa.evaluate(click("li:last-child input"));
  await kim.until("document.querySelector('li:last-child input').checked");
  await noa.evaluate(click("li button"));
  await kim.until(`${texts} === 'Bread'`);
  served.change(withResource("items", { scope: { read: "Own", write: "Own" }, changes }));
  await noa.until(`${texts} === '' && ${textOf("[role=status]")} === 'Live'`);
  await kim.until(`${texts} === 'Bread' && ${textOf("[role=status]")} === 'Live'`);
  expect([...kim.complaints, ...noa.complaints]).toEqual([]);
});

it("the shared list adds a text once that is sent again because the answer was lost", async () => {
  const page = await signedIn("noa");
  await page.evaluate(`const answered = fetch;
    globalThis.fetch = async (...request) => {
      const response = await answered(...request);
      if (request[1]?.method !== "POST") return response;
      globalThis.fetch = answered;
      throw new TypeError("The answer was lost");
    };`);
  await fill(page, "#add [name=text]", "Eggs");
  await page.evaluate("document.querySelector('#add').requestSubmit()");
  await page.until(`${textOf("[role=status]")} === 'The answer was lost' && ${texts} === 'Eggs'`);
  await page.evaluate("document.querySelector('#add').requestSubmit()");
  await page.until("document.querySelector('#add [name=text]').value === ''");
  expect(await page.evaluate(texts)).toBe("Eggs");
});

it("the shared list connects again where a stream has been silent for too long", async () => {
  const page = await signedIn(
    "noa",
    `const later = setTimeout;
    globalThis.setTimeout = (end, ms) => (ms === 45_000 ? ((globalThis.endStream = end), 0) : later(end, ms));`,
  );
  await page.evaluate("globalThis.endStream()");
  await page.until(`${textOf("[role=status]")} === 'Connecting again …'`);
  await page.until(`${textOf("[role=status]")} === 'Live'`);
  await fill(page, "#add [name=text]", "Tea");
  await page.evaluate("document.querySelector('#add').requestSubmit()");
  await page.until(`${texts}.endsWith('Tea')`);
});

it("the page of the guide shows each change of the flags", async () => {
  const page = await open();
  await page.goto(guide.origin);
  await page.until(`${textOf("pre")}.includes('"beta": false')`);
  await served.send("/json/flags/beta", { method: "PUT", body: true, as: staff });
  await page.until(`${textOf("pre")}.includes('"beta": true')`);
});
