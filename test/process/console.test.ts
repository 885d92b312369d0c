// The console of a project in a real browser: how people sign in and out, what becomes of text that
// is not saved, and how the views look in light and dark, narrow and wide. Pictures lie in
// out/console/ for whoever wants to look.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { JsonObject, OperationAccess } from "../../core/config/types.ts";
import {
  apikey,
  type Modifier,
  passwordOf,
  project,
  withConfig,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import type { Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import type { Page } from "./browser.ts";
import {
  bookProperties,
  type ConsoleVisit,
  click,
  complaintsOf,
  objectEditor as editor,
  enter,
  enterKey,
  focused,
  openConsole,
  overflow,
  pictures,
  type StartedConsole,
  screens,
  showJson,
  shows,
  signInWithKey,
  signInWithPassword,
  startConsole,
  violationsOf,
  visitConsole,
  wide,
} from "./console-page.ts";

const withoutBooks: Modifier = (parts) => ({
  ...parts,
  resources: new Map([...parts.resources].filter(([name]) => name !== "books")),
});

const nobody = { create: "Nobody", read: "Nobody", update: "Nobody", delete: "Nobody" } as const;

function withBooks(
  properties: JsonObject,
  required: readonly string[] = ["title"],
  access: Partial<OperationAccess> = {},
): Modifier {
  const description = "Every book that we sell. <img src=data:,x onerror=alert(1)>";
  return withResource("books", {
    access,
    scope: { read: "All" },
    indexes: ["title", "price"],
    schema: { type: "object", description, required, properties },
  });
}

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withUser("ada", { role: "Administrators" }),
  withUser("eve"),
  withBooks(bookProperties),
  withResource("hidden", { access: nobody }),
  withRootKey("settings"),
);

let started: StartedConsole;
let served: Served;
/** Id of a book. */
let id: string;
/** How far the clock of the server is ahead, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  started = await startConsole(shop, { clock: { ...systemClock, now: () => systemClock.now() + ahead } });
  served = started.served;
  const printed = { by: "A printer with a long name", in: "A city with a long name" };
  for (let number = 1; number <= 30; number += 1) {
    const body = { title: `Book ${number}`, price: number, isbn: number, tags: ["a", "b"], printed };
    const reply = await served.send("/api/books", { method: "POST", as: apikey("staff"), body });
    id = reply.json<{ id: string }>().id;
  }
});

afterAll(() => started?.stop());

const visited = (fragment: string): Promise<Page> => visitConsole({ ...started, fragment });
const opened = (fragment: string, more: Pick<ConsoleVisit, "as"> = {}): Promise<Page> =>
  openConsole({ ...started, fragment, ...more });
const form = "document.querySelector('form.object')";
const link = (href: string) => `document.querySelector('nav.data a[href="${href}"]')`;
const dialog = "document.querySelector('dialog[open] h2')?.innerText";
const discardQuestion = `${dialog} === 'Discard what you entered?'`;
/** A table has a shadow where it goes on sideways, and only there. */
const saysMore = `((table) => table === null ||
  table.scrollWidth > table.clientWidth === table.parentElement.matches('.more-right'))(document.querySelector('.scrolls'))`;
const who = "document.querySelector('#who').innerText";
const gate = "document.querySelector('#gate')";
const liveSessions = async (): Promise<number> =>
  (await served.send("/sessions", { as: apikey("staff") })).json<{ count: number }>().count;
const stored = () => served.send(`/api/books/${id}`, { as: apikey("staff") });

/** A page on which ada has entered something and not saved it. */
async function withUnsavedText(text: string): Promise<Page> {
  const page = await visited(`/api/books/${id}`);
  await signInWithPassword(page, "ada", passwordOf("ada"));
  await showJson(page);
  await enter(page, text, editor);
  return page;
}

describe("the console", () => {
  it.each(screens)("asks for credentials, and is usable at $width px in $scheme", async (options) => {
    const name = `${options.width}-${options.scheme}`;
    const page = await started.browser.open(options);
    await page.goto(`${served.origin}${served.base}`);
    await page.until(gate);
    expect(await page.evaluate("location.pathname")).toBe(`${served.base}/console`);
    expect(await page.evaluate("document.documentElement.innerHTML.includes('books')")).toBe(false);
    expect(await page.evaluate("[document.querySelector('h1').innerText, document.title]")).toEqual([
      "Sign in to shop",
      "Sign in – shop console",
    ]);
    expect(await violationsOf(page)).toEqual([]);
    await page.picture(`${pictures}gate-${name}.png`);
    await signInWithKey(page, "staff");
    expect(await page.evaluate(shows("hidden"))).toBe(false);
    for (const [fragment, ready, picture] of [
      ["#/", "document.querySelector('.cards')", "start"],
      ["#/api/books?price:ge=2&_sort=-price", "document.querySelectorAll('tbody tr').length === 25", "list"],
      [`#/api/books/${id}`, `${shows("Book 30")} && ${form}`, "object"],
      ["#/new/books", `${shows("New book")} && ${form}`, "new"],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
      await page.until(ready);
      expect([fragment, await violationsOf(page)]).toEqual([fragment, []]);
      expect([fragment, await page.evaluate(overflow)]).toEqual([fragment, 0]);
      expect(await page.evaluate("document.querySelector('#who').clientHeight < 25")).toBe(true);
      expect([fragment, await page.evaluate(saysMore)]).toEqual([fragment, true]);
      await page.picture(`${pictures}${picture}-${name}.png`);
    }
    expect(complaintsOf(page)).toEqual([]);
    expect(page.requests.filter((url) => !url.startsWith(served.origin) && !url.startsWith("data:"))).toEqual([]);
  });

  it("moves the focus to the heading of each view, and names the view in the page's title", async () => {
    const page = await opened("/");
    for (const [fragment, heading, title] of [
      ["#/api/books", "books", "books – shop console"],
      ["#/new/books", "New book", "New book – books – shop console"],
      [`#/api/books/${id}`, "Book 30", "Book 30 – books – shop console"],
      ["#/json/settings", "settings", "settings – shop console"],
      ["#/json/none", "Not found", "Not found – shop console"],
      ["#/", "shop", "shop console"],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
      await page.until(`document.activeElement.tagName === 'H1' && ${focused} === ${JSON.stringify(heading)}`);
      expect(await page.evaluate("document.title")).toBe(title);
    }
  });
});

describe("who signs in", () => {
  it("is kept in memory, told to another page of the project, and forgotten by both after signing out", async () => {
    const page = await visited("/");
    await signInWithPassword(page, "ada", passwordOf("ada"));
    await page.until(`${who} === 'Signed in as ada'`);
    const kept = await page.evaluate<string>(
      "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])",
    );
    // Words of their own: the random name of the namespace may have the letters of any.
    expect(kept).not.toMatch(/\b(bearer|ada)\b/);
    const reference = await page.beside();
    await reference.goto(`${served.origin}${served.base}/docs`);
    await reference.until(`${who} === 'Signed in as ada'`);
    expect(await liveSessions()).toBe(1);
    await click(page, "Sign out");
    for (const each of [page, reference]) await each.until(gate);
    await eventually(async () => expect(await liveSessions()).toBe(0));
    expect(await page.evaluate("document.documentElement.innerHTML.includes('books')")).toBe(false);
  });

  it.each([
    ["a key", "This API key was not accepted.", (page: Page) => enterKey(page, "jp_wrong")],
    ["a password", "The user name or the password is wrong.", (page: Page) => signInWithPassword(page, "ada", "wrong")],
  ])("is told that %s was not accepted", async (_what, words, signIn) => {
    const page = await visited("/");
    await signIn(page);
    await page.until(`document.querySelector('#fault').innerText === ${JSON.stringify(words)}`);
    expect(await page.evaluate("document.querySelector('nav.data')")).toBe(null);
  });

  it("goes on after the access token has expired, with another one", async () => {
    const page = await visited("/");
    await signInWithPassword(page, "ada", passwordOf("ada"));
    await page.until("document.querySelector('.cards')");
    try {
      // They live for 300 seconds.
      ahead = 301_000;
      await page.evaluate("location.hash = '#/api/books'");
      await page.until("document.querySelectorAll('tbody tr').length === 25");
      expect(page.requests.filter((url) => url.endsWith("/sessions/refresh"))).toHaveLength(1);
      await click(page, "Sign out");
      await page.until(gate);
    } finally {
      ahead = 0;
    }
  });
});

describe("text that is not saved", () => {
  it("is lost on the way to another view only if the person says so, by a link and by the browser's Back", async () => {
    const page = await opened("/api/books");
    await page.until("document.querySelectorAll('tbody tr').length === 25");
    await page.evaluate(`location.hash = '#/api/books/${id}'`);
    await showJson(page);
    await enter(page, '{"title":"Half an edit"}', editor);
    const entries = await page.evaluate("history.length");
    for (const leave of [`${link("#/json/settings")}.click()`, "history.back()"]) {
      await page.evaluate(leave);
      await page.until(discardQuestion);
      await page.until(`location.hash === '#/api/books/${id}'`);
      expect(await violationsOf(page)).toEqual([]);
      await click(page, "Cancel");
      await page.until(`${dialog} === undefined`);
      expect(await page.evaluate(`${editor}.innerText`)).toBe('{"title":"Half an edit"}');
    }
    await page.evaluate("history.back()");
    await page.until(discardQuestion);
    await click(page, "Discard");
    await page.until("location.hash === '#/api/books' && document.querySelectorAll('tbody tr').length === 25");
    // The entry that was left is still there, as after every Back.
    await page.evaluate("history.forward()");
    await page.until(`location.hash === '#/api/books/${id}' && ${shows("Book 30")}`);
    expect(await page.evaluate("history.length")).toBe(Number(entries) + 1);
  });

  it("is lost by signing out only if the person says so", async () => {
    const page = await withUnsavedText('{"title":"Half an edit"}');
    await click(page, "Sign out");
    await page.until(discardQuestion);
    await click(page, "Cancel");
    expect(await page.evaluate(`${editor}.innerText`)).toBe('{"title":"Half an edit"}');
    await click(page, "Sign out");
    await click(page, "Discard");
    await page.until(gate);
    expect(await page.evaluate("document.documentElement.innerHTML.includes('Half an edit')")).toBe(false);
  });

  it("is kept for the same person after another page has signed out, and shown to nobody else", async () => {
    const page = await withUnsavedText('{"title":"Half an edit"}');
    const reference = await page.beside();
    await reference.goto(`${served.origin}${served.base}/docs`);
    for (const [name, shown] of [
      ["ada", '{"title":"Half an edit"}'],
      ["eve", "Book 30"],
    ] as const) {
      await reference.until(`${who} === 'Signed in as ada'`);
      await reference.evaluate("document.querySelector('#sign-out').click()");
      await page.until(gate);
      const reason = "You have unsaved text as ada: sign in as ada to keep it.";
      expect(await page.evaluate(`document.querySelector('#why').innerText`)).toBe(reason);
      await page.until("document.querySelector('#username').value + document.activeElement.id === 'adapassword'");
      expect(await page.evaluate("document.body.innerText.includes('Half an edit')")).toBe(false);
      await page.picture(`${pictures}gate-kept.png`);
      await signInWithPassword(page, name, passwordOf(name));
      if (name === "eve") {
        await page.until(`${dialog} === 'Discard what ada entered?'`);
        await click(page, "Discard");
      }
      await page.until(`${gate} === null && ${shows(shown)}`);
      expect(await page.evaluate(shows("Half an edit"))).toBe(name === "ada");
      expect(await page.evaluate("document.activeElement.tagName")).toBe("H1");
    }
  });

  it("outlives changes of the project, which the console follows, and the end of the resource that it is for", async () => {
    const page = await opened("/new/books");
    const change = "document.querySelector('.project-change').innerText";
    const comeBack = () => page.evaluate("void dispatchEvent(new Event('focus'))");
    await page.until(form);
    try {
      const publisher = { type: "string" };
      served.change(withBooks({ ...bookProperties, publisher }, ["title", "publisher"]));
      await comeBack();
      await page.until(shows("publisher required"));
      expect(await page.evaluate(change)).toBe("The project has changed, and what you see here follows it.");
      for (const options of screens) {
        await page.look(options);
        expect(await violationsOf(page)).toEqual([]);
        expect(await page.evaluate(overflow)).toBe(0);
        await page.picture(`${pictures}changed-${options.width}-${options.scheme}.png`);
      }
      await page.look(wide);

      const text = '{"title":"Half an object"}';
      await showJson(page);
      await enter(page, text, editor);
      served.change(
        withBooks({ ...bookProperties, publisher, series: { type: "string" } }, ["title", "publisher", "series"]),
      );
      await click(page, "Create");
      await page.until(shows('The member "series" is missing'));
      expect(await page.evaluate(`${editor}.innerText`)).toBe(text);
      await click(page, "Form");
      await page.until(shows("series required"));
      await showJson(page);

      served.change(withoutBooks);
      await comeBack();
      await page.until(
        `${change}.startsWith("The project has changed. This view stays as it is, with what you entered")`,
      );
      await click(page, "Create");
      await page.until(shows("This does not exist, or it was deleted."));
      expect(await page.evaluate(`${editor}.innerText`)).toBe(text);
      await page.evaluate(`${link("#/json/settings")}.click()`);
      await click(page, "Discard");
      await page.until(`location.hash === '#/json/settings' && ${link("#/api/books")} === null`);

      served.live.remove({ namespace: served.namespace, name: "shop" });
      await click(page, "Reload");
      await page.until(`${change} === "This project is no longer at this address."`);
      await page.picture(`${pictures}gone.png`);
      served.change(withoutBooks);
      await comeBack();
      await page.until(`${change} === ""`);
    } finally {
      served.change(withBooks(bookProperties));
    }
  });

  it("is kept for who signs in after it was entered, where the console needs no credentials", async () => {
    served.change(withConfig({ console: "Anyone" }), withBooks(bookProperties, ["title"], { create: "Anyone" }));
    try {
      const page = await started.browser.open(wide);
      await page.goto(`${served.origin}${served.base}/console#/new/books`);
      await showJson(page);
      await enter(page, '{"title":"Before signing in"}', editor);
      await page.evaluate("document.querySelector('#sign-in').click()");
      await page.until(gate);
      await click(page, "Back");
      await page.until(`${gate} === null`);
      await page.evaluate("document.querySelector('#sign-in').click()");
      await signInWithKey(page, "staff");
      expect(await page.evaluate(`${editor}.innerText`)).toBe('{"title":"Before signing in"}');
      await click(page, "Create");
      await page.until("location.hash.startsWith('#/api/books/')");
    } finally {
      served.change(withConfig({ console: "Authenticated" }), withBooks(bookProperties));
    }
  });

  it("is kept when the session has ended, and saved once the person has signed in again", async () => {
    const page = await withUnsavedText('{"title":"Saved late"}');
    const sessions = (await served.send("/sessions?_limit=100", { as: apikey("staff") })).json<{
      items: { id: string }[];
    }>();
    for (const session of sessions.items) {
      await served.send(`/sessions/${session.id}`, { method: "DELETE", as: apikey("staff") });
    }
    try {
      ahead = 301_000;
      await click(page, "Save");
      await page.until(shows("Your credentials are no longer accepted."));
      await page.picture(`${pictures}session-ended.png`);
      await click(page, "Sign in again");
      await signInWithPassword(page, "eve", passwordOf("eve"));
      await page.until(`${dialog} === 'Discard what ada entered?'`);
      expect(await violationsOf(page)).toEqual([]);
      await page.picture(`${pictures}gate-somebody-else.png`);
      await click(page, "Cancel");
      expect(await page.evaluate("document.querySelector('#username').value + document.activeElement.id")).toBe(
        "adapassword",
      );
      await click(page, "Go on as eve");
      await click(page, "Cancel");
      await signInWithPassword(page, "ada", passwordOf("ada"));
      await page.until(`${gate} === null`);
      expect(await page.evaluate(`${editor}.innerText`)).toBe('{"title":"Saved late"}');
      expect(await page.evaluate(shows("Your credentials are no longer accepted."))).toBe(false);
      await click(page, "Save");
      await page.until(shows("Saved."));
      expect((await stored()).json()).toMatchObject({ title: "Saved late" });
    } finally {
      ahead = 0;
    }
  });
});
