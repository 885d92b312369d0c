// The console of a project in a real browser: what it shows, changes and refuses, in light and dark, narrow and wide. Pictures of it lie
// in out/console/ for whoever wants to look.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
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
import { type Browser, type Page, startBrowser } from "./browser.ts";

const shop = project(
  "shop",
  withKey("staff", { role: "Administrators" }),
  withKey("visitor", { access: "Read" }),
  withUser("ada"),
  withResource("books", {
    scope: { read: "All" },
    indexes: ["title", "price"],
    schema: {
      type: "object",
      description: "Every book that we sell. <img src=data:,x onerror=alert(1)>",
      required: ["title"],
      properties: {
        title: { type: "string", minLength: 1 },
        price: { type: "number", exclusiveMinimum: 0 },
        isbn: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
      },
    },
  }),
  withResource("hidden", { access: { create: "Nobody", read: "Nobody", update: "Nobody", delete: "Nobody" } }),
  withRootKey("settings"),
  withConfig({ console: "Authenticated" }),
);

const pictures = fileURLToPath(new URL("../../out/console/", import.meta.url));
const wide = { width: 1280, height: 900, scheme: "light" } as const;
let browser: Browser;
let served: Served;
/** Ids of the books, in the order of creation. */
let ids: string[];
/** How far the clock of the server is ahead, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  served = await serveFrom(store, [shop], { publicUrl: "", clock });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.stop();
  await served?.plane.close();
  await served?.store.close();
});

async function create(text: string): Promise<string> {
  const reply = await served.send("/api/books", { method: "POST", as: apikey("staff"), body: text });
  expect(reply.status).toBe(201);
  return reply.json<{ id: string }>().id;
}

beforeEach(async () => {
  const listed = await served.send("/api/books?_limit=100", { as: apikey("staff") });
  for (const { id } of listed.json<{ items: { id: string }[] }>().items) {
    await served.send(`/api/books/${id}`, { method: "DELETE", as: apikey("staff") });
  }
  ids = [];
  for (let number = 1; number <= 30; number += 1) {
    const isbn = number === 1 ? "9007199254740993" : String(number);
    const name = `Book ${String(number).padStart(2, "0")}`;
    ids.push(await create(`{"title":"${name}","price":${number}.0,"isbn":${isbn},"tags":["a","b"]}`));
  }
});

const text = "document.body.innerText";
const editor = "document.querySelector('.cm-content, textarea')";
const button = (name: string) =>
  `[...document.querySelectorAll('button, a.button')].find((each) => each.innerText.trim() === '${name}' && each.checkVisibility())`;
const click = (page: Page, name: string) =>
  page
    .until(`${button(name)} !== undefined && !${button(name)}.disabled`)
    .then(() => page.evaluate(`${button(name)}.click()`));

async function consoleAt(fragment: string, options: Parameters<Browser["open"]>[0] = wide): Promise<Page> {
  const page = await browser.open(options);
  await page.goto(`${served.origin}${served.base}/console${fragment}`);
  await page.until("document.querySelector('#gate')");
  return page;
}

async function enter(page: Page, selector: string, entered: string): Promise<void> {
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`);
  await page.type(entered);
}

async function signedIn(
  fragment: string,
  { as = "staff", ...options }: { as?: string } & Partial<Parameters<Browser["open"]>[0]> = {},
): Promise<Page> {
  const page = await consoleAt(fragment, { ...wide, ...options });
  await enter(page, "#key", apikey(as).slice("apikey ".length));
  await page.evaluate("document.querySelector('#with-key').requestSubmit()");
  await page.until("document.querySelector('nav.data')");
  return page;
}

/** In place of what stands in the editor. */
async function write(page: Page, entered: string): Promise<void> {
  await page.until(editor);
  await page.evaluate(`${editor}.focus(); document.execCommand('selectAll')`);
  await page.type(entered);
}

async function complaintsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8"));
  const found = await page.evaluate<readonly { id: string; impact: string; nodes: readonly { html: string }[] }[]>(
    "axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) })))",
  );
  return found.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html}`);
}

const bookTitles = "[...document.querySelectorAll('tbody tr td:nth-child(2)')].map((each) => each.innerText)";
const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
const stored = async (id: string) => await served.send(`/api/books/${id}`, { as: apikey("staff") });

describe("the console", () => {
  it.each([
    { ...wide, scheme: "light" },
    { ...wide, scheme: "dark" },
    { width: 375, height: 800, scheme: "light" },
    { width: 375, height: 800, scheme: "dark" },
  ] as const)(
    "is where a project's URL leads, asks for credentials, and is usable at $width px in $scheme",
    async (options) => {
      const name = `${options.width}-${options.scheme}`;
      const page = await browser.open(options);
      await page.goto(`${served.origin}${served.base}`);
      await page.until("document.querySelector('#gate')");
      expect(await page.evaluate("location.pathname")).toBe(`${served.base}/console`);
      expect(await page.evaluate("document.documentElement.innerHTML.includes('books')")).toBe(false);
      expect(await complaintsOf(page)).toEqual([]);
      await page.picture(`${pictures}gate-${name}.png`);
      await enter(page, "#key", apikey("staff").slice("apikey ".length));
      await page.evaluate("document.querySelector('#with-key').requestSubmit()");
      await page.until("document.querySelector('.cards')");
      expect(await page.evaluate(text)).not.toContain("hidden");
      await page.picture(`${pictures}start-${name}.png`);
      for (const [fragment, ready, picture] of [
        ["#/api/books?price:ge=2&_sort=-price", "document.querySelectorAll('tbody tr').length === 25", "list"],
        [`#/api/books/${ids[0]}`, editor, "object"],
        ["#/new/books", `${text}.includes('New object') && ${editor}`, "new"],
      ] as const) {
        await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
        await page.until(ready);
        expect([fragment, await complaintsOf(page)]).toEqual([fragment, []]);
        expect([fragment, await page.evaluate(overflow)]).toEqual([fragment, 0]);
        await page.picture(`${pictures}${picture}-${name}.png`);
      }
      // The first answer of the description, which asks for credentials, is what a browser calls an error.
      expect(page.complaints.filter((line) => !/401 .*openapi\.json/.test(line))).toEqual([]);
      expect(page.requests.filter((url) => !url.startsWith(served.origin) && !url.startsWith("data:"))).toEqual([]);
    },
  );

  it("keeps what a person enters in memory, tells another page of the project of it, and ends both when the person signs out", async () => {
    const page = await consoleAt("");
    await enter(page, "#username", "ada");
    await enter(page, "#password", passwordOf("ada"));
    await page.evaluate("document.querySelector('#with-password').requestSubmit()");
    await page.until("document.querySelector('#who').innerText === 'Signed in as ada'");
    const kept = await page.evaluate<string>(
      "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])",
    );
    expect(kept).not.toMatch(/bearer|ada/);
    const reference = await page.beside();
    await reference.goto(`${served.origin}${served.base}/docs`);
    await reference.until("document.querySelector('#who').innerText === 'Signed in as ada'");
    const live = async () => (await served.send("/sessions", { as: apikey("staff") })).json<{ count: number }>().count;
    expect(await live()).toBe(1);
    await page.evaluate("document.querySelector('#sign-out').click()");
    for (const each of [page, reference]) await each.until("document.querySelector('#gate')");
    expect(await live()).toBe(0);
  });

  it("says which credentials were not accepted", async () => {
    const page = await consoleAt("");
    await enter(page, "#username", "ada");
    await enter(page, "#password", "wrong");
    await page.evaluate("document.querySelector('#with-password').requestSubmit()");
    await page.until("document.querySelector('#fault').innerText === 'These credentials were not accepted.'");
    await enter(page, "#key", "jp_wrong");
    await page.evaluate("document.querySelector('#with-key').requestSubmit()");
    await page.until("document.querySelector('#fault').innerText === 'These credentials were not accepted.'");
    expect(await page.evaluate("document.querySelector('nav.data')")).toBe(null);
  });

  it("goes on after the access token has expired, with another one", async () => {
    try {
      const page = await consoleAt("");
      await enter(page, "#username", "ada");
      await enter(page, "#password", passwordOf("ada"));
      await page.evaluate("document.querySelector('#with-password').requestSubmit()");
      await page.until("document.querySelector('.cards')");
      // They live for 300 seconds.
      ahead = 301_000;
      await page.evaluate("location.hash = '#/api/books'");
      await page.until("document.querySelectorAll('tbody tr').length === 25");
      expect(page.requests.filter((url) => url.endsWith("/sessions/refresh"))).toHaveLength(1);
      await page.evaluate("document.querySelector('#sign-out').click()");
    } finally {
      ahead = 0;
    }
  });
});

describe("its lists", () => {
  it("show every digit, page by page, and sort by columns that an index answers", async () => {
    const page = await signedIn("#/api/books");
    await page.until(`${bookTitles}.length === 25`);
    expect(await page.evaluate(`${text}.includes('30 objects')`)).toBe(true);
    const first = await page.evaluate<string>("document.querySelector('tbody tr').innerText");
    expect(first).toContain("9007199254740993");
    expect(first).toContain("1.0");
    await click(page, "Next page");
    await page.until(`${bookTitles}.length === 5`);
    expect(await page.evaluate(bookTitles)).toEqual([26, 27, 28, 29, 30].map((number) => `Book ${number}`));
    await click(page, "Previous page");
    await page.until(`${bookTitles}.length === 25`);
    const sort = "[...document.querySelectorAll('th button.sort')]";
    expect(await page.evaluate(`${sort}.map((each) => each.innerText.split(' ')[0])`)).toEqual(["title", "price"]);
    await page.evaluate(`${sort}[1].click()`);
    await page.evaluate(`new Promise((resume) => setTimeout(resume, 50)).then(() => ${sort}[1].click())`);
    await page.until(`${bookTitles}[0] === 'Book 30'`);
    expect(await page.evaluate(`${sort}[1].closest('th').ariaSort`)).toBe("descending");
    expect(await page.evaluate("location.hash")).toBe("#/api/books?_sort=-price");
  });

  it("are filtered by field, operator and value, and say what the server has against a value", async () => {
    const page = await signedIn("#/api/books");
    await page.until(`${bookTitles}.length === 25`);
    await click(page, "Add filter");
    const choose = (label: string, value: string) =>
      page.evaluate(`((each) => { each.value = '${value}'; each.dispatchEvent(new Event('change', { bubbles: true })); })
        (document.querySelector('.filter select[aria-label="${label}"]'))`);
    await choose("Field", "price");
    await page.until("document.querySelector('.filter legend').innerText.includes('price')");
    await choose("Operator", "ge");
    await enter(page, ".filter input", "29");
    await page.evaluate("document.querySelector('.filters').requestSubmit()");
    await page.until(`${bookTitles}.length === 2`);
    expect(await page.evaluate("location.hash")).toBe("#/api/books?price%3Age=29");
    await enter(page, ".filter input", "x");
    await page.evaluate("document.querySelector('.filters').requestSubmit()");
    await page.until("document.querySelector('.fault')?.innerText.includes('price')");
  });
});

describe("its editor", () => {
  it("saves what was changed and nothing else, removes members, and keeps every digit", async () => {
    const page = await signedIn(`#/api/books/${ids[0]}`);
    await write(page, '{"title":"Emma","price":1.0,"isbn":9007199254740993}');
    await click(page, "Save");
    await page.until(`${text}.includes('Saved')`);
    const after = await stored(ids[0] ?? "");
    expect(after.text).toContain('"title":"Emma","price":1.0,"isbn":9007199254740993');
    expect(after.text).not.toContain("tags");
  });

  it("saves nothing over what somebody else has changed, until the person says so", async () => {
    const [id = ""] = ids;
    const page = await signedIn(`#/api/books/${id}`);
    await write(page, '{"title":"Mine","price":1.0,"isbn":9007199254740993,"tags":["a","b"]}');
    await served.send(`/api/books/${id}`, { method: "PUT", as: apikey("staff"), body: { title: "Theirs" } });
    await click(page, "Save");
    await page.until(`${text}.includes('Somebody else has changed')`);
    expect((await stored(id)).text).toContain("Theirs");
    expect(await complaintsOf(page)).toEqual([]);
    await page.picture(`${pictures}conflict.png`);
    await click(page, "Save mine over it");
    await page.until(`${text}.includes('Saved')`);
    expect((await stored(id)).text).toContain("Mine");
    await served.send(`/api/books/${id}`, { method: "PUT", as: apikey("staff"), body: { title: "Theirs again" } });
    await write(page, '{"title":"Mine again"}');
    await click(page, "Save");
    await click(page, "Load the stored object");
    await page.until(`${editor}.innerText.includes('Theirs again') || ${editor}.value?.includes('Theirs again')`);
    expect((await stored(id)).text).toContain("Theirs again");
  });

  it("shows the server's errors, creates once they are mended, and deletes after it has asked", async () => {
    const page = await signedIn("#/api/books");
    await click(page, "New object");
    await page.until(`${text}.includes('Create')`);
    await write(page, '{\n  "title": "Lady Susan",\n  "price": -1\n}');
    await click(page, "Create");
    await page.until("document.querySelector('.fault')?.innerText.includes('Must be greater')");
    await page.picture(`${pictures}errors.png`);
    await write(page, '{\n  "title": "Lady Susan",\n  "price": 5\n}');
    await click(page, "Create");
    await page.until("location.hash.startsWith('#/api/books/')");
    const id = (await page.evaluate<string>("location.hash")).split("/").at(-1) ?? "";
    await page.until(editor);
    await click(page, "Delete");
    await page.until("document.querySelector('dialog[open]')");
    expect(await complaintsOf(page)).toEqual([]);
    await page.picture(`${pictures}delete.png`);
    await click(page, "Cancel");
    expect((await stored(id)).status).toBe(200);
    await click(page, "Delete");
    await page.until("document.querySelector('dialog[open]')");
    await page.evaluate("document.querySelector('dialog .danger').click()");
    await page.until("location.hash === '#/api/books'");
    expect((await stored(id)).status).toBe(404);
  });

  it("asks before what was entered and not saved is lost, and stays if the person wants to", async () => {
    const page = await signedIn(`#/api/books/${ids[0]}`);
    await write(page, '{"title":"Half an edit"}');
    await page.until(`${text}.includes('Not saved yet')`);
    await page.evaluate("globalThis.asked = 0; globalThis.confirm = () => { asked += 1; return asked > 1; }");
    await page.evaluate("document.querySelector('nav.data a[href=\"#/api/books\"]').click()");
    await page.until("asked === 1");
    await page.until(`location.hash === '#/api/books/${ids[0]}'`);
    expect(await page.evaluate(`${editor}.innerText`)).toContain("Half an edit");
    await page.evaluate("document.querySelector('nav.data a[href=\"#/api/books\"]').click()");
    await page.until(`${bookTitles}.length === 25`);
    expect(await page.evaluate("asked")).toBe(2);
  });

  it("says what a caller may not do, in the server's words", async () => {
    const page = await signedIn(`#/api/books/${ids[0]}`, { as: "visitor" });
    await write(page, '{"title":"Emma"}');
    await click(page, "Save");
    await page.until("document.querySelector('.fault')?.innerText.length > 10");
    expect((await stored(ids[0] ?? "")).text).toContain("Book 01");
    await click(page, "Undo changes");
    await page.until(`!${text}.includes('Not saved yet')`);
    await page.evaluate("location.hash = '#/api/books/0198c9a2-7d4e-7c3a-9b1f-3f6f0c2d4e5a'");
    await page.until("document.querySelector('.fault')?.innerText.includes('not')");
  });
});
