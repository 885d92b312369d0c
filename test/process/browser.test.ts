// What the tests of pages rely on: a page that is opened has loaded, its scripts included.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Browser, startBrowser } from "./browser.ts";

/** Paths with what they answer, and how many milliseconds later. */
const answers: Readonly<Record<string, readonly [text: string, afterMs: number]>> = {
  "/left": ['<p>left</p><img src="/image">', 0],
  "/image": ["", 300],
  "/entered": ['<p>entered</p><script type="module" src="/script.js"></script>', 600],
  "/script.js": ["globalThis.hasRun = true", 300],
  "/leads-on": ["<script>location.replace('/entered')</script>", 0],
};
const server = createServer(async ({ url = "" }, response) => {
  const [text, afterMs] = answers[url] ?? ["", 0];
  await sleep(afterMs);
  const type = url.endsWith(".js") ? "text/javascript" : "text/html";
  response.writeHead(200, { "content-type": type }).end(text);
});
let origin = "";
let browser: Browser;

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.stop();
  server.close();
});

const open = () => browser.open({ width: 800, height: 600, scheme: "light" });

it("goto waits for the page's own scripts, although the page before it ends loading meanwhile", async () => {
  const page = await open();
  await page.evaluate(`void (location.href = ${JSON.stringify(`${origin}/left`)})`);
  await page.until("document.body?.innerText === 'left'");
  await page.goto(`${origin}/entered`);
  expect(await page.evaluate("globalThis.hasRun")).toBe(true);
});

it("goto waits for the page to which the one that it opens leads on", async () => {
  const page = await open();
  await page.goto(`${origin}/leads-on`);
  await page.until("globalThis.hasRun");
});
