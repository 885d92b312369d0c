// The package @jsonplane/client as it is built: its size and types, in a page of Chromium, in two
// tabs that share a session, and while its replica is killed and started again. The page is that of
// examples/retro-board.

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { keyringText, newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { buildClient } from "../../tools/build-client.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import { passwordOf, project, withResource, withUser } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { freePort } from "../support/process/free-port.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";
import { buildApp, fill, type ServedApp, serveApp, textOf, typeErrors } from "./built-app.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
const retro = project(
  "retro",
  withUser("kim"),
  withUser("noa"),
  withResource("cards", { scope: { read: "All", write: "All" }, changes }),
);
const keyring = parseKeyring(newKeyringText());
let folder = "";
let redis: TestRedis;
let replica: Replica;
/** In this process, with a clock that the tests move. */
let served: Served;
let ahead = 0;
const apps = new Map<string, ServedApp>();
let browser: Browser;
let restart: () => Promise<Replica>;

beforeAll(async () => {
  await mkdir(join(root, "out"), { recursive: true });
  // Inside the tree, where the packages are found that the app needs.
  folder = await mkdtemp(join(root, "out", "retro-"));
  await cp(join(root, "examples/retro-board"), join(folder, "retro-board"), { recursive: true });
  await cp(join(root, "examples/browser-app/tsconfig.json"), join(folder, "browser-app/tsconfig.json"));
  await buildClient(join(folder, "node_modules/@jsonplane/client"));
  redis = await startRedis();
  await writeFile(join(folder, "keyring.json"), keyringText(keyring));
  const redisClient = await openRedisClient(redis.url);
  const publisher = await begunPublisher({ redisClient, keyring });
  await publisher.publish(retro);
  await publisher.complete();
  redisClient.disconnect();
  const [port, adminPort] = [await freePort(), await freePort()];
  const options = { redis: redis.url, keyring: join(folder, "keyring.json"), name: "r1", port, adminPort };
  restart = () => startReplica(options);
  replica = await restart();
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  served = await serveFrom(await createEmbeddedStore({ directory: ":memory:", clock }), [retro], { clock });
  for (const [name, url] of [
    ["replica", `${replica.origin}/default/retro`],
    ["clock", served.origin + served.base],
  ] as const) {
    const built = join(folder, name);
    await buildApp(join(folder, "retro-board"), built, { VITE_API: url });
    apps.set(name, await serveApp(() => built));
  }
  browser = await startBrowser();
}, 300_000);

afterAll(async () => {
  await browser?.stop();
  for (const app of apps.values()) app.close();
  await replica?.stop("SIGKILL");
  await served?.plane.close();
  await served?.store.close();
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function opened(name: string, beside?: Page): Promise<Page> {
  const page = await (beside?.beside() ?? browser.open({ width: 700, height: 600, scheme: "light" }));
  await page.goto(apps.get(name)?.origin ?? "");
  return page;
}

async function signIn(page: Page, name: string): Promise<void> {
  await fill(page, "#sign-in [name=name]", name);
  await fill(page, "#sign-in [name=password]", passwordOf(name));
  await page.evaluate("document.querySelector('#sign-in').requestSubmit()");
  await page.until(isLive);
}

async function add(page: Page, text: string): Promise<void> {
  await fill(page, "#add [name=text]", text);
  await page.evaluate("document.querySelector('#add').requestSubmit()");
}

const isLive = `document.body.classList.contains('signed-in') && ${textOf("#message")} === 'live'`;
const cards = "[...document.querySelectorAll('li')].map((row) => row.innerText.replace(/\\s+/g, ' ')).join()";
const click = (selector: string) => `document.querySelector(${JSON.stringify(selector)}).click()`;

it("the package has the version of the whole, one module of 8 KB at most, and types that fit the board", async () => {
  const of = async (path: string) =>
    JSON.parse(await readFile(join(root, path), "utf8")) as { readonly version: string };
  expect((await of("client/package.json")).version).toBe((await of("package.json")).version);
  const script = await readFile(join(folder, "node_modules/@jsonplane/client/index.js"));
  expect(gzipSync(script).length).toBeLessThanOrEqual(8 * 1024);
  for (const adapter of ["tanstack-db", "rxdb"]) {
    const module = await readFile(join(folder, `node_modules/@jsonplane/client/${adapter}.js`));
    expect(gzipSync(module).length).toBeLessThanOrEqual(3 * 1024);
  }
  expect(await typeErrors(join(folder, "retro-board"))).toBe("");
  const lines = (await readFile(join(root, "examples/retro-board/board.ts"), "utf8")).trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(40);
});

it("a board shows what others do, and goes on across a replica that is killed, adding each card once", async () => {
  const [kim, noa] = [await opened("replica"), await opened("replica")];
  await signIn(kim, "kim");
  await signIn(noa, "noa");
  await add(kim, "Tests");
  // Kim's own page shows it sooner, with an id that the server doesn't know.
  for (const page of [kim, noa]) await page.until(`${cards} === 'Tests (kim) +0 ×'`);
  await Promise.all([kim, noa].map((page) => page.evaluate(click("li [name=vote]"))));
  for (const page of [kim, noa]) await page.until(`${cards} === 'Tests (kim) +2 ×'`);
  await replica.stop("SIGKILL");
  const restarted = restart();
  await noa.until(`${textOf("#message")} === 'reconnecting'`);
  await add(noa, "Meanwhile");
  await noa.until(`${cards} === 'Tests (kim) +2 ×,Meanwhile (…) +0 ×'`);
  replica = await restarted;
  for (const page of [kim, noa]) await page.until(`${cards} === 'Tests (kim) +2 ×,Meanwhile (noa) +0 ×' && ${isLive}`);
  await noa.evaluate("{ const box = document.querySelector('[name=mine]'); box.click(); }");
  await noa.until(`${cards} === 'Meanwhile (noa) +0 ×'`);
});

it("tabs share a session: it is refreshed with a clock that is off by an hour, and ended for both", async () => {
  const one = await opened("clock");
  await signIn(one, "kim");
  const other = await opened("clock", one);
  await other.until(isLive);
  const late = "{ const now = Date.now; Date.now = () => now() + 3_600_000; }";
  await Promise.all([one, other].map((page) => page.evaluate(late)));
  ahead = 301_000;
  await Promise.all([add(one, "Mine"), add(other, "Too")]);
  for (const page of [one, other]) await page.until(`${cards} === 'Mine (kim) +0 ×,Too (kim) +0 ×'`);
  const requests = [...one.requests, ...other.requests];
  const refreshes = requests.filter((url) => url.endsWith("/sessions/refresh"));
  expect([1, 2]).toContain(refreshes.length);
  // A refresh is no sign-in: neither has shown its cards anew.
  expect(requests.filter((url) => url.includes("/api/cards?") && url.includes("_cursor="))).toHaveLength(2);
  await other.evaluate("document.querySelector('#sign-out').requestSubmit()");
  await one.until("!document.body.classList.contains('signed-in')");
  await eventually(async () => expect(await one.evaluate("JSON.stringify({ ...localStorage })")).toBe("{}"));
});
