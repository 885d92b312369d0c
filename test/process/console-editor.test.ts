// The console's editor for JSON in a real browser: what isn't JSON at its line, text as long as the
// server stores it, and the form for a new object. Pictures lie in out/console/ for whoever wants
// to look.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apikey, project, withConfig, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import type { Page } from "./browser.ts";
import {
  bookProperties,
  click,
  complaintsOf,
  enter,
  faults,
  named,
  objectEditor,
  openConsole,
  pictures,
  type StartedConsole,
  showJson,
  shows,
  startConsole,
} from "./console-page.ts";

const hours = [{ days: ["Mon", "Tue"], from: "09:00" }];
const long = Object.fromEntries(
  Array.from({ length: 12_000 }, (_, index) => [`member ${index}`, { text: "x".repeat(40), n: index }]),
);

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withResource("books", { schema: { type: "object", required: ["title"], properties: bookProperties } }),
  withRootKey("hours", { initialValue: JSON.stringify(hours) }),
  withRootKey("long", { initialValue: JSON.stringify(long) }),
);

let started: StartedConsole;

beforeAll(async () => {
  started = await startConsole(shop);
});

afterAll(() => started?.stop());

const editor = "document.querySelector('.value .cm-content')";

async function opened(rootKey: string): Promise<Page> {
  const page = await openConsole({ ...started, fragment: `/json/${rootKey}` });
  await page.until(editor);
  return page;
}

/** The text of a new book. */
async function openedText(): Promise<Page> {
  const page = await openConsole({ ...started, fragment: "/new/books" });
  await showJson(page);
  return page;
}

async function books(): Promise<number> {
  return (await started.served.send("/api/books", { as: apikey("staff") })).json<{ count: number }>().count;
}

describe("the editor", () => {
  it("checks the text as it is typed, as the server would", async () => {
    const page = await opened("hours");
    const faults = "document.querySelector('.json-faults').innerText";
    for (const [text, fault] of [
      ['{\n"a": 1,\n"a": 2}', "Line 3 An object has two members with the same name"],
      ["[1,\n]", "Line 2 Expected a JSON value, found ']'"],
      ['{"a": ', "Line 1 Expected a JSON value, found the end of the text"],
    ] as const) {
      await enter(page, text, editor);
      await page.until(`${faults} === ${JSON.stringify(fault)}`);
    }
    await enter(page, "[1.0]", editor);
    await page.until(`${faults} === ""`);
  });

  it("takes a value of almost a megabyte", async () => {
    const page = await opened("long");
    await page.until(`${editor}.innerText.includes("member 3")`);
    await page.evaluate(`${editor}.focus()`);
    await page.press("End", "Control");
    await page.until(`${editor}.innerText.includes("member 11999")`);
    await page.type(" ");
    await page.until(`${named("Save")}.ariaDisabled === "false"`);
    expect(complaintsOf(page)).toEqual([]);
  });
});

describe("a new object", () => {
  it("shows the server's errors at their lines until those are changed", async () => {
    const page = await openedText();
    await enter(page, '{\n  "price": -1,\n  "tags": [\n    7\n  ]\n}', objectEditor);
    await click(page, "Create");
    const list = "document.querySelector('.json-faults').innerText";
    const marks = "document.querySelectorAll('.cm-lint-marker-error').length";
    await page.until(`${list} !== ""`);
    expect(await page.evaluate(list)).toBe(
      'Line 1 /title The member "title" is missing\nLine 2 /price Must be greater than 0\nLine 4 /tags/0 Must be a string',
    );
    const marked = "[...document.querySelectorAll('.cm-lintRange-error')].map((each) => each.innerText).join('')";
    expect(await page.evaluate(marked)).toBe('{"price": -17');
    expect(await page.evaluate(marks)).toBe(3);
    await page.picture(`${pictures}new-errors.png`);
    await click(page, "Line 2");
    await page.until(`document.activeElement === ${objectEditor}`);
    await page.type(" ");
    await page.until(`${marks} === 2 && !${list}.includes("/price")`);
  });

  it("is said not to be JSON until it is", async () => {
    const page = await openedText();
    await enter(page, '{"title":"Emma"', objectEditor);
    await click(page, "Create");
    await page.until(`${faults}[0]?.startsWith("The body is not one well-formed JSON text.")`);
    await enter(page, '{"title":"Emma"}', objectEditor);
    await page.until(`${faults}.length === 0`);
  });

  it("is created once, however often it is sent", async () => {
    const before = await books();
    const page = await openedText();
    await enter(page, '{"title":"Lady Susan"}', objectEditor);
    await page.evaluate(`void ((real) => { globalThis.keys = []; globalThis.fetch = async (request) => {
      if (request.method !== "POST") return real(request);
      keys.push(request.headers.get("Idempotency-Key"));
      const answer = await real(request);
      if (keys.length > 1) return answer;
      await new Promise((resolve) => { globalThis.lose = resolve; });
      throw new TypeError("The answer is lost");
    }; })(fetch)`);
    await page.press("s", "Control");
    await page.until(shows("Creating…"));
    await page.press("s", "Control");
    await page.until("globalThis.lose !== undefined");
    await page.evaluate("lose()");
    await page.until(`${faults}.includes("The server can't be reached. Try again.")`);
    expect(await page.evaluate("keys.length")).toBe(1);
    expect(await books()).toBe(before + 1);
    await click(page, "Create");
    await page.until("location.hash.startsWith('#/api/books/')");
    expect(await books()).toBe(before + 1);
    expect(await page.evaluate("keys.length === 2 && keys[0] === keys[1] && keys[0].length")).toBe(36);
  });
});
