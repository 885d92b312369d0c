// Lists and objects in the console in a real browser: filters, pages, edits, conflicts, what is
// refused, and where the focus is. Pictures lie in out/console/ for whoever wants to look.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { apikey, project, withConfig, withKey, withResource } from "../support/http/projects.ts";
import type { Served } from "../support/http/served.ts";
import type { Page } from "./browser.ts";
import {
  bookProperties,
  click,
  complaintsOf,
  objectEditor as editor,
  enter,
  faults,
  fill,
  focused,
  holdAnswers,
  named,
  openConsole,
  overflow,
  pictures,
  type StartedConsole,
  screens,
  showJson,
  shows,
  startConsole,
  violationsOf,
  wide,
} from "./console-page.ts";

const access = { create: "Authenticated", read: "Authenticated", update: "Nobody", delete: "Authenticated" } as const;

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withResource("books", {
    scope: { read: "All" },
    indexes: ["title", "price"],
    schema: { type: "object", required: ["title"], properties: bookProperties },
  }),
  withResource("receipts", { access }),
);

let started: StartedConsole;
let served: Served;
/** Ids of the books, in the order of creation. */
let ids: string[];

beforeAll(async () => {
  started = await startConsole(shop);
  served = started.served;
});

afterAll(() => started?.stop());

beforeEach(async () => {
  for (const id of (await listed("books")).items.map((item) => item.id)) await remove(id);
  ids = [];
  for (let number = 1; number <= 30; number += 1) {
    const isbn = number === 1 ? "9007199254740993" : String(number);
    const title = `Book ${String(number).padStart(2, "0")}`;
    ids.push(await create("books", `{"title":"${title}","price":${number}.0,"isbn":${isbn},"tags":["a","b"]}`));
  }
});

async function create(resource: string, body: string): Promise<string> {
  const reply = await served.send(`/api/${resource}`, { method: "POST", as: apikey("staff"), body });
  expect(reply.status).toBe(201);
  return reply.json<{ id: string }>().id;
}

async function listed(resource: string): Promise<{ count: number; items: { id: string }[] }> {
  return (await served.send(`/api/${resource}?_limit=100`, { as: apikey("staff") })).json();
}

async function replace(id: string, body: object): Promise<void> {
  const reply = await served.send(`/api/books/${id}`, { method: "PUT", as: apikey("staff"), body });
  expect(reply.status).toBe(200);
}

const remove = (id: string) => served.send(`/api/books/${id}`, { method: "DELETE", as: apikey("staff") });
const stored = (id: string) => served.send(`/api/books/${id}`, { as: apikey("staff") });

const opened = (fragment: string) => openConsole({ ...started, fragment });

async function openedBook(): Promise<{ readonly page: Page; readonly id: string }> {
  const [id = ""] = ids;
  const page = await opened(`/api/books/${id}`);
  await showJson(page);
  return { page, id };
}

const bookTitles = "[...document.querySelectorAll('tbody tr th')].map((each) => each.innerText)";
const sidebarLink = "document.querySelector('nav.data a[aria-current]')";
const conflict = "document.querySelector('.conflict')?.innerText ?? ''";
const differences =
  "[...document.querySelectorAll('.differences li')].map((each) => each.innerText.replace(/\\s+/g, ' '))";

describe("lists", () => {
  it("show every digit, page by page, and sort by columns that an index answers", async () => {
    const page = await opened("/api/books");
    await page.until(`${bookTitles}.length === 25`);
    expect(await page.evaluate(shows("30 books"))).toBe(true);
    const cells =
      "[...document.querySelectorAll('tbody tr:first-child > *')].slice(0, 4).map((each) => each.innerText)";
    expect(await page.evaluate(cells)).toEqual(["Book 01", "1.0", "9007199254740993", "a, b"]);
    await click(page, "Next page");
    await page.until(`${bookTitles}.length === 5`);
    expect(await page.evaluate(bookTitles)).toEqual([26, 27, 28, 29, 30].map((number) => `Book ${number}`));
    expect(await page.evaluate(`${named("Next page")}.ariaDisabled + ${focused}`)).toBe("trueNext page");
    await click(page, "Previous page");
    await page.until(`${bookTitles}.length === 25`);
    expect(await page.evaluate(`${named("Previous page")}.ariaDisabled + ${focused}`)).toBe("truePrevious page");
    const sort = "[...document.querySelectorAll('th button.sort')]";
    expect(await page.evaluate(`${sort}.map((each) => each.innerText.split(/\\s/)[0])`)).toEqual([
      "title",
      "price",
      "created",
    ]);
    for (const order of ["ascending", "descending"]) {
      await page.evaluate(`${sort}[1].click()`);
      await page.until(`${sort}[1].closest('th').ariaSort === '${order}'`);
    }
    await page.until(`${bookTitles}[0] === 'Book 30'`);
    expect(await page.evaluate("location.hash")).toBe("#/api/books?_sort=-price");
    // The time of creation needs no index.
    for (const order of ["ascending", "descending"]) {
      await page.evaluate(`${sort}[2].click()`);
      await page.until(`${sort}[2].closest('th').ariaSort === '${order}' && ${bookTitles}.length === 25`);
    }
    expect(await page.evaluate("location.hash")).toBe("#/api/books?_sort=-_metadata.created");
  });

  it("are downloaded as CSV, as they are filtered and sorted, more than a page shows", async () => {
    const page = await opened("/api/books?price:ge=3&_sort=-price");
    await page.until(`${bookTitles}.length === 25`);
    await page.evaluate(`const made = URL.createObjectURL.bind(URL);
      URL.createObjectURL = (blob) => { globalThis.saved = blob.text(); return made(blob); };`);
    const answers = await holdAnswers(page, "GET");
    await click(page, "Download CSV");
    const saysSo = shows("Downloading all pages…");
    await page.until(saysSo);
    await answers.release();
    await page.until("globalThis.saved !== undefined");
    const text = await page.evaluate<string>("globalThis.saved");
    await page.until(`!${saysSo}`);
    const [header = "", ...records] = text.trimEnd().split("\r\n");
    expect(header.startsWith("id,title,price,")).toBe(true);
    expect(records.map((record) => record.split(",")[2])).toEqual(ids.slice(2).map((_, at) => `${30 - at}.0`));
  });

  it("are filtered by field, operator and value, and say what the server has against a value", async () => {
    const page = await opened("/api/books");
    await click(page, "Add filter");
    await page.until("document.activeElement.ariaLabel === 'Field'");
    // The first field of the schema, with an operator that it has.
    expect(await page.evaluate("[...document.querySelectorAll('.filter select')].map((each) => each.value)")).toEqual([
      "title",
      "contains",
    ]);
    const choose = (label: string, value: string) =>
      page.evaluate(`((each) => { each.value = '${value}'; each.dispatchEvent(new Event('change', { bubbles: true })); })
        (document.querySelector('.filter select[aria-label="${label}"]'))`);
    await choose("Field", "cover");
    await page.until(
      "[...(document.querySelector('.filter input').list?.options ?? [])].map(({ value }) => value).join() === 'hard,soft'",
    );
    await choose("Field", "price");
    await page.until("document.querySelector('.filter legend').innerText === 'Filter by price'");
    await choose("Operator", "ge");
    await fill(page, ".filter input", "29");
    await click(page, "Apply");
    await page.until(`${bookTitles}.length === 2`);
    expect(await page.evaluate("location.hash")).toBe("#/api/books?price%3Age=29");
    expect(await page.evaluate(focused)).toBe("Apply");
    await fill(page, ".filter input", "x");
    await click(page, "Apply");
    await page.until(`${faults}.length === 1`);
    expect(await page.evaluate(faults)).toEqual(["A query parameter is invalid. price must be a number, as in 12.5"]);
    expect(await page.evaluate(`${bookTitles}.length`)).toBe(2);
    await page.evaluate("document.querySelector('[aria-label=\"Remove the filter by price\"]').click()");
    await page.until(`document.querySelector('.filter') === null && ${focused} === 'Add filter'`);
    await page.until(`${bookTitles}.length === 25`);
    expect(await page.evaluate("location.hash")).toBe("#/api/books");
  });

  it("show the page that the address names, whatever was shown before, and the first one where there is no such page", async () => {
    const page = await opened("/api/books?price%3Alt=3");
    await page.until(`${bookTitles}.length === 2`);
    await page.evaluate(`${sidebarLink}.click()`);
    await click(page, "Next page");
    await page.until(`${bookTitles}.length === 5 && ${shows("30 books, page 2")}`);
    const second = await page.evaluate<string>("location.hash");
    expect(second).toMatch(/^#\/api\/books\?_cursor=[\w-]+$/);
    await page.evaluate("history.go(-2)");
    await page.until(`${bookTitles}.length === 2 && document.querySelector('.filter input').value === '3'`);
    await page.evaluate("history.go(2)");
    await page.until(`${bookTitles}.length === 5 && ${shows("30 books, page 2")}`);
    await page.evaluate(`${sidebarLink}.click()`);
    await page.until(`${bookTitles}.length === 25 && location.hash === '#/api/books'`);

    const other = await opened(second.slice(1));
    await other.until(`${bookTitles}.length === 5 && ${shows("30 books, a page after the first")}`);
    await click(other, "First page");
    await other.until(`${bookTitles}.length === 25 && location.hash === '#/api/books'`);
    await other.evaluate(`location.hash = '${second}&_sort=-price'`);
    await other.until(`${bookTitles}[0] === 'Book 30'`);
    expect(await other.evaluate(shows("The page that the address names is no longer there."))).toBe(true);
    await click(other, "Next page");
    await other.until(`${bookTitles}.length === 5 && ${shows("30 books, page 2")}`);
  });

  it("are come back to with filter, order and page, from an object and after its end", async () => {
    const page = await opened("/api/books?price%3Age=2&_sort=-price");
    await page.until(`${bookTitles}.length === 25`);
    await click(page, "Next page");
    await page.until(`${bookTitles}.length === 4`);
    const hash = await page.evaluate<string>("location.hash");
    for (const leave of [
      "document.querySelector('.breadcrumb a').click()",
      `${named("Delete…")}.click(), setTimeout(() => ${named("Delete")}.click())`,
    ]) {
      await page.evaluate("document.querySelector('tbody a').click()");
      await page.until("document.querySelector('h1').innerText === 'Book 05'");
      await page.evaluate(`void ${leave}`);
      await page.until(`location.hash === ${JSON.stringify(hash)} && ${shows("page 2")}`);
    }
    await page.until(`${bookTitles}.length === 3 && ${bookTitles}[0] === 'Book 04'`);
  });
});

describe("an object", () => {
  it("is saved with what was changed and nothing else, without members that were removed, with every digit", async () => {
    const { page, id } = await openedBook();
    await enter(page, '{"title":"Emma","price":1.0,"isbn":9007199254740993}', editor);
    await click(page, "Save");
    await page.until(shows("Saved."));
    expect(await page.evaluate(focused)).toBe("Save");
    const { _metadata, id: _id, ...saved } = (await stored(id)).json<Record<string, unknown>>();
    expect(Object.keys(saved)).toEqual(["title", "price", "isbn"]);
    expect((await stored(id)).text).toContain('"title":"Emma","price":1.0,"isbn":9007199254740993');
    expect(complaintsOf(page)).toEqual([]);
  });

  it("is saved with more changed members than a patch has operations, without those that were removed", async () => {
    const members = (value: number) => Array.from({ length: 1_001 }, (_, at) => `"m${at}":${value}`).join(",");
    const id = await create("books", `{"title":"Many","gone":1,${members(1)}}`);
    const { _metadata } = (await stored(id)).json<Record<string, unknown>>();
    const page = await opened(`/api/books/${id}`);
    await showJson(page);
    // The editor draws the lines that are in sight.
    await page.evaluate(`${editor}.focus()`);
    await page.press("a", "Control");
    await page.type(`{"title":"Many","isbn":9007199254740993,${members(2)}}`);
    await click(page, "Save");
    await page.until(shows("Saved."));
    expect((await stored(id)).text).toContain(`"title":"Many","isbn":9007199254740993,${members(2)}`);
    expect((await stored(id)).json()).toMatchObject({ id, _metadata });
    expect((await stored(id)).json()).not.toHaveProperty("gone");
  });

  it("is not saved over what somebody else has changed, until the person says so about the version that is stored", async () => {
    const { page, id } = await openedBook();
    await enter(page, '{"title":"Mine"}', editor);
    await replace(id, { title: "Theirs", tags: [] });
    await click(page, "Save");
    await page.until(`${conflict}.startsWith("Somebody else changed this object meanwhile. Nothing was saved")`);
    expect(await page.evaluate("document.activeElement.closest('.conflict') !== null")).toBe(true);
    expect(await page.evaluate(differences)).toEqual([
      "title changed by both Stored now Theirs Yours Mine",
      "price changed by you Stored now 1.0 Yours none",
      "isbn changed by you Stored now 9007199254740993 Yours none",
      "tags changed by both Stored now [] Yours none",
    ]);
    for (const options of screens) {
      await page.look(options);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate(overflow)).toBe(0);
      await page.picture(`${pictures}conflict-${options.width}-${options.scheme}.png`);
    }
    await page.look(wide);
    await replace(id, { title: "Third" });
    const before = page.requests.length;
    await click(page, "Save mine over it");
    await page.until(`${named("Save mine over it")}?.ariaDisabled === "false"`);
    expect(page.requests.length).toBe(before + 2);
    await click(page, "Save mine over it");
    await page.until(shows("Saved."));
    expect((await stored(id)).json()).toMatchObject({ title: "Mine" });
    expect((await stored(id)).json()).not.toHaveProperty("tags");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("H1");

    await replace(id, { title: "Theirs again" });
    await enter(page, '{"title":"Mine again"}', editor);
    await click(page, "Save");
    await click(page, "Take theirs, drop mine");
    await page.until(`${editor}.innerText.includes('Theirs again')`);
    expect((await stored(id)).json()).toMatchObject({ title: "Theirs again" });
  });

  it("that somebody else has changed is deleted once the person says so, and never saved by that", async () => {
    const id = await create("receipts", '{"total":1}');
    const page = await opened(`/api/receipts/${id}`);
    await page.until(editor);
    expect(await page.evaluate(`${editor}.ariaReadOnly`)).toBe("true");
    expect(await page.evaluate(shows("You may read this, not change it."))).toBe(true);
    await page.evaluate(`void ((real) => { globalThis.fetch = (request) => {
      if (request.method === "DELETE" && !globalThis.hasFailed) {
        globalThis.hasFailed = true;
        request.headers.set("If-Match", '"old"');
      }
      return real(request);
    }; })(fetch)`);
    await click(page, "Delete…");
    await click(page, "Delete");
    await page.until(`${conflict}.startsWith("Somebody else changed this object meanwhile. Nothing was deleted")`);
    const offers = "[...document.querySelectorAll('.conflict button')].map((each) => each.innerText)";
    expect(await page.evaluate(offers)).toEqual(["Keep it", "Delete it anyway"]);
    await click(page, "Delete it anyway");
    await page.until("location.hash === '#/api/receipts'");
    expect((await listed("receipts")).count).toBe(0);
  });

  it("that somebody else has deleted becomes a new one, if the person wants that", async () => {
    const { page, id } = await openedBook();
    await enter(page, '{"title":"Mine"}', editor);
    await remove(id);
    await click(page, "Save");
    await page.until(`${conflict}.startsWith("Somebody else deleted this object meanwhile.")`);
    await click(page, "Create a new object from mine");
    await page.until(`location.hash !== '#/api/books/${id}' && document.querySelector('h1').innerText === 'Mine'`);
    const created = (await page.evaluate<string>("location.hash")).split("/").at(-1) ?? "";
    expect((await stored(created)).json()).toMatchObject({ title: "Mine" });
  });

  it("is not sent by Ctrl-S while Save is disabled", async () => {
    const { page, id } = await openedBook();
    const receipt = await create("receipts", '{"total":1}');
    const before = page.requests.length;
    await page.evaluate(`${editor}.focus()`);
    await page.press("s", "Control");
    await enter(page, '{"title":', editor);
    await page.press("s", "Control");
    expect(await page.evaluate(`${named("Save")}.ariaDisabled`)).toBe("true");
    await enter(page, '{"title":"Once"}', editor);
    const patches = await holdAnswers(page, "PATCH");
    await page.press("s", "Control");
    await page.press("s", "Control");
    await page.until(`${patches.held} === 1 && ${shows("Saving…")}`);
    await page.press("s", "Control");
    await page.evaluate(`${editor}.focus()`);
    await page.press("End", "Control");
    await page.type(" ");
    await patches.release();
    await page.until(`!${shows("Saving…")}`);
    expect(page.requests.slice(before)).toHaveLength(1);
    expect((await stored(id)).json()).toMatchObject({ title: "Once" });
    // Entered while it was saved.
    expect(await page.evaluate(`${editor}.innerText`)).toBe('{"title":"Once"} ');
    await page.evaluate(`location.hash = '#/api/receipts/${receipt}'`);
    await page.until(`${editor}?.ariaReadOnly === "true"`);
    const count = page.requests.length;
    await page.evaluate(`${editor}.focus()`);
    await page.press("s", "Control");
    expect(page.requests).toHaveLength(count);
    await served.send(`/api/receipts/${receipt}`, { method: "DELETE", as: apikey("staff") });
  });

  it("shows the server's errors at their lines until those are changed, and is deleted after it has asked", async () => {
    const { page, id } = await openedBook();
    await enter(page, '{\n  "title": "",\n  "price": -1\n}', editor);
    await click(page, "Save");
    const list = "document.querySelector('.json-faults').innerText";
    await page.until(`${list} !== ""`);
    expect(await page.evaluate(faults)).toEqual(["Some fields are not right yet. They are marked below."]);
    expect(await page.evaluate(list)).toBe(
      "Line 2 /title Must have at least 1 character\nLine 3 /price Must be greater than 0",
    );
    await click(page, "Discard changes");
    await page.until(`${list} === "" && ${editor}.innerText.includes('Book 01')`);
    await click(page, "Delete…");
    await page.until("document.querySelector('dialog[open] h2')?.innerText === 'Delete “Book 01”?'");
    expect(await violationsOf(page)).toEqual([]);
    await click(page, "Cancel");
    expect((await stored(id)).status).toBe(200);
    await click(page, "Delete…");
    await click(page, "Delete");
    await page.until(
      `location.hash === '#/api/books' && document.activeElement.tagName === 'H1' && ${shows("Deleted.")}`,
    );
    expect((await stored(id)).status).toBe(404);
  });

  it("is said not to exist at an address where none is", async () => {
    const page = await opened("/api/books/0198c9a2-7d4e-7c3a-9b1f-3f6f0c2d4e5a");
    await page.until(`${faults}[0]?.startsWith("This does not exist, or it was deleted.")`);
  });
});
