// The console follows what others change, in a real browser: lists, cells, objects and root keys,
// and what becomes of that without a server and out of sight. Pictures lie in out/console/ for
// whoever wants to look.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { JsonObject } from "../../core/config/types.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import {
  apikey,
  passwordOf,
  project,
  withConfig,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";
import {
  bookProperties,
  click,
  complaintsOf,
  focused,
  openConsole,
  overflow,
  pictures,
  screens,
  shows,
  signInWithPassword,
  violationsOf,
  visitConsole,
} from "./console-page.ts";

const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
const withBooks = (properties: JsonObject) =>
  withResource("books", {
    scope: { read: "All" },
    indexes: ["title", "price"],
    changes,
    schema: { type: "object", required: ["title"], properties },
  });
const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withKey("other", { role: "Administrators" }),
  withUser("ada", { role: "Administrators" }),
  withBooks(bookProperties),
  withResource("notes", { scope: { read: "All" } }),
  withRootKey("settings", { initialValue: '{"theme":"light","limits":[1,2]}', changes }),
);

let store: Store;
let served: Served;
let proxy: TcpProxy;
let browser: Browser;
let emma = "";
let pages: Page[] = [];
/** How far the clock of the server is ahead, in milliseconds. */
let ahead = 0;
const clock = { ...systemClock, now: () => systemClock.now() + ahead };

beforeAll(async () => {
  store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  served = await serveFrom(store, [shop], { publicUrl: "", clock });
  proxy = await startTcpProxy(portOf(served));
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.stop();
  await proxy?.stop();
  await served?.plane.close();
  await store?.close();
});
beforeEach(async () => {
  for (const { id } of (await sent("GET", "/api/books")).items ?? []) await sent("DELETE", `/api/books/${id}`);
  emma = (await sent("POST", "/api/books", { title: "Emma", price: 9, cover: "soft" })).id;
  await sent("POST", "/api/books", { title: "Ulysses", price: 12 });
  await sent("PUT", "/json/settings", { theme: "light", limits: [1, 2] });
  pages = [];
});
afterEach(() => {
  for (const page of pages) expect(complaintsOf(page, /ERR_|412|404/)).toEqual([]);
});

const portOf = ({ origin }: Served) => Number(new URL(origin).port);

/** As somebody else than the person at the page. */
async function sent(method: string, path: string, body?: unknown): Promise<{ id: string; items?: { id: string }[] }> {
  const reply = await served.send(path, { method, as: apikey("other"), ...(body !== undefined && { body }) });
  expect(reply.status).toBeLessThan(300);
  return reply.status === 204 ? { id: "" } : reply.json();
}

const behindProxy = () => ({ ...served, origin: `http://127.0.0.1:${proxy.port}` });

async function opened(fragment: string): Promise<Page> {
  const page = await openConsole({ browser, served: behindProxy(), fragment });
  pages.push(page);
  return page;
}

const mark = "document.querySelector('.live-mark')?.firstChild.data";
const titles = "[...document.querySelectorAll('tbody th')].map((each) => each.innerText.split('\\n')[0]).join()";
const news = "document.querySelector('.news')?.innerText";
const conflict = "document.querySelector('.conflict')?.innerText";
const field = (name: string) => `[...document.querySelectorAll('form.object .field')]
  .find((each) => each.innerText.startsWith(${JSON.stringify(name)})).querySelector('input, select')`;

async function live(fragment: string): Promise<Page> {
  const page = await opened(fragment);
  await page.until(`${mark} === "Live"`);
  return page;
}

async function look(page: Page, name: string): Promise<void> {
  for (const options of screens) {
    await page.look(options);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(overflow)).toBe(0);
    await page.picture(`${pictures}live-${name}-${options.width}-${options.scheme}.png`);
  }
}

describe("a list", () => {
  it("shows on another page what one page adds, changes and deletes, by filter and order, and says how much", async () => {
    const one = await live("/api/books");
    const other = await live("/api/books?price%3Age=10&_sort=-price");
    await other.evaluate("document.querySelector('tbody a').focus()");
    await click(one, "New book");
    await one.until(field("title"));
    await one.evaluate(`${field("title")}.focus()`);
    await one.type("Walden");
    await one.evaluate(`${field("price")}.focus()`);
    await one.type("20");
    await click(one, "Create");
    await other.until(`${titles} === 'Walden,Ulysses' && ${news} === 'Somebody else changed 1 object.'`);
    expect(await other.evaluate(focused)).toBe("Ulysses");
    await look(other, "list");
    await sent("PATCH", `/api/books/${emma}`, { price: 15 });
    await other.until(`${titles} === 'Walden,Emma,Ulysses'`);
    await sent("DELETE", `/api/books/${emma}`);
    await other.until(`${titles} === 'Walden,Ulysses' && ${shows("2 books")}`);
  });

  it("leaves what is entered in a cell, says what somebody else has stored there, and moves no row meanwhile", async () => {
    const page = await live("/api/books?_sort=price");
    await click(page, "Edit cells");
    const cell =
      "[...document.querySelectorAll('tbody tr:first-child button.cell')].find((each) => each.innerText.endsWith('edit price'))";
    await page.until(cell);
    await page.evaluate(`${cell}.click()`);
    await page.until("document.activeElement.closest('.cell-editor')");
    await sent("PATCH", `/api/books/${emma}`, { price: 9.5 });
    await page.until("document.activeElement.value === '9.5'");
    await page.evaluate("document.activeElement.select()");
    await page.type("10");
    await sent("PATCH", `/api/books/${emma}`, { title: "Emma, 1815" });
    await page.until(`${titles}.startsWith('Emma, 1815')`);
    await sent("PATCH", `/api/books/${emma}`, { price: 99 });
    await sent("POST", "/api/books", { title: "Cheap", price: 1 });
    await page.until(shows("Somebody else changed this meanwhile. Now stored: 99."));
    expect(await page.evaluate("document.activeElement.value")).toBe("10");
    await look(page, "cell");
    await page.press("Enter");
    await page.until(`!document.querySelector('.cell-editor') && ${titles}.startsWith('Cheap,Emma, 1815')`);
    expect(await sent("GET", `/api/books/${emma}`)).toMatchObject({ price: 10, title: "Emma, 1815" });
  });

  it("of a resource without changes says that it is not live, until its manifest declares them", async () => {
    await sent("POST", "/api/notes", { text: "x" });
    const page = await opened("/api/notes");
    await page.until(`${mark} === "Not live"`);
    await look(page, "not");
    served.change(withResource("notes", { scope: { read: "All" }, changes }));
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.until(`${mark} === "Live"`);
  });
});

describe("an object", () => {
  it("shows what somebody else changes, and asks where that meets what was entered", async () => {
    const page = await live(`/api/books/${emma}`);
    await sent("PATCH", `/api/books/${emma}`, { price: 10 });
    await page.until(`${field("price")}.value === "10" && ${shows("Somebody else changed this.")}`);
    await page.evaluate(`${field("title")}.select(), ${field("title")}.focus()`);
    await page.type("Mine");
    await sent("PATCH", `/api/books/${emma}`, { price: 11, title: "Theirs" });
    await page.until(`${conflict}?.startsWith("Somebody else changed this object meanwhile. What you entered")`);
    await page.type("!");
    expect(await page.evaluate(`[${field("title")}.value, document.activeElement === ${field("title")}]`)).toEqual([
      "Mine!",
      true,
    ]);
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('.differences li')].map((each) => each.innerText.split('\\n')[0])",
      ),
    ).toEqual(["title changed by both", "price changed by somebody else"]);
    await look(page, "conflict");
    await click(page, "Keep mine");
    await page.until(`${conflict} === undefined && ${field("price")}.value === "11"`);
    await click(page, "Save");
    await page.until(shows("Saved."));
    expect(await sent("GET", `/api/books/${emma}`)).toMatchObject({ title: "Mine!", price: 11 });
  });

  it("that somebody else deletes says so", async () => {
    const page = await live(`/api/books/${emma}`);
    await sent("DELETE", `/api/books/${emma}`);
    await page.until(`${conflict}?.startsWith("Somebody else deleted this object")`);
    await look(page, "deleted");
    await click(page, "Close");
    await page.until("location.hash === '#/api/books'");
  });
});

describe("a root key", () => {
  it("shows what somebody else changes in its tree and in the chosen value, and asks where something was entered", async () => {
    const page = await live("/json/settings");
    const theme = "document.querySelector('[data-row=\"/theme\"]')";
    await page.until(theme);
    await page.evaluate(`${theme}.click()`);
    await page.until("document.querySelector('.value input')");
    await sent("PUT", "/json/settings/theme", JSON.stringify("dark"));
    await page.until(`${theme}.innerText.includes('dark') && document.querySelector('.value input').value === 'dark'`);
    await page.evaluate("document.querySelector('.value input').select()");
    await page.type("mine");
    await sent("PUT", "/json/settings/theme", JSON.stringify("theirs"));
    await page.until(`${conflict}?.startsWith("Somebody else changed this value meanwhile.")`);
    expect(await page.evaluate("document.querySelector('.value input').value")).toBe("mine");
    await look(page, "value");
    await click(page, "Take theirs, drop mine");
    await page.until("document.querySelector('.value input').value === 'theirs'");
  });
});

describe("the connection", () => {
  it("is made again after a restart of the server, and what was missed is shown", async () => {
    const page = await live("/api/books");
    proxy.lead(1);
    proxy.cut();
    await page.until(`${mark} === "Reconnecting…"`);
    await look(page, "reconnecting");
    await served.plane.close();
    served = await serveFrom(store, [shop], { publicUrl: "", clock, namespace: served.namespace });
    await sent("POST", "/api/books", { title: "Missed" });
    proxy.lead(portOf(served));
    await page.until(`${mark} === "Live" && ${titles} === 'Emma,Ulysses,Missed'`);
  });

  it("is made again over another connection where one is dead without a sign of it", async () => {
    const page = await live("/api/books");
    // Each read has a second in place of a minute.
    await page.evaluate("AbortSignal.timeout = AbortSignal.timeout.bind(AbortSignal, 1000)");
    const isHeld = proxy.holdFrom(/GET .*_etags=true/);
    await sent("POST", "/api/books", { title: "Beyond" });
    await isHeld;
    await page.until(`${titles}.endsWith('Beyond')`);
    proxy.release();
  });

  it("begins anew, with what may be read, after a reset", async () => {
    const page = await live("/api/books");
    served.change(withBooks({ ...bookProperties, pages: { type: "integer" } }));
    await sent("POST", "/api/books", { title: "New", pages: 1 });
    await page.until(`${mark} === "Live" && ${titles}.endsWith('New')`);
  });

  it("is made again with another token once the first has expired", async () => {
    const page = await visitConsole({ browser, served: behindProxy(), fragment: "/api/books" });
    await signInWithPassword(page, "ada", passwordOf("ada"));
    await page.until(`${mark} === "Live"`);
    ahead = 10 * 60_000;
    proxy.cut();
    await page.until(`${mark} !== "Live"`);
    await page.until(`${mark} === "Live"`);
    expect(page.requests.some((url) => url.endsWith("/sessions/refresh"))).toBe(true);
    await sent("DELETE", `/api/books/${emma}`);
    await page.until(`${titles} === 'Ulysses'`);
  });

  it("is one, ends while the page is hidden, and what was missed is shown when it is seen", async () => {
    const page = await live("/api/books");
    const streams = () => page.requests.filter((url) => url.endsWith("_fields=id")).length;
    const see = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true }),
        document.dispatchEvent(new Event("visibilitychange"))`);
    expect(streams()).toBe(1);
    await see(true);
    const before = page.requests.length;
    await sent("POST", "/api/books", { title: "Unseen" });
    // Would be told to a page that follows.
    const witness = await live("/api/books");
    await witness.until(`${titles}.endsWith('Unseen')`);
    expect(page.requests.length).toBe(before);
    await see(false);
    await page.until(`${titles}.endsWith('Unseen')`);
    await sent("DELETE", `/api/books/${emma}`);
    await page.until(`!${titles}.includes('Emma')`);
    expect(streams()).toBe(2);
  });
});
