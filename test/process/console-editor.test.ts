// The console's editor for JSON in a real browser: what isn't JSON at its line, and text as long as the server stores it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project, withConfig, withKey, withRootKey } from "../support/http/projects.ts";
import type { Page } from "./browser.ts";
import { complaintsOf, enter, named, openConsole, type StartedConsole, startConsole } from "./console-page.ts";

const hours = [{ days: ["Mon", "Tue"], from: "09:00" }];
const long = Object.fromEntries(
  Array.from({ length: 12_000 }, (_, index) => [`member ${index}`, { text: "x".repeat(40), n: index }]),
);

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
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
