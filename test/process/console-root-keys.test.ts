// Root keys in the console in a real browser: the tree, edits, what can be added and deleted, in
// light and dark, narrow and wide. Pictures lie in out/console/ for whoever wants to look.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { project, withConfig, withKey, withRootKey } from "../support/http/projects.ts";
import type { Served } from "../support/http/served.ts";
import type { Page } from "./browser.ts";
import {
  type ConsoleVisit,
  click,
  complaintsOf,
  enter,
  focused,
  holdAnswers,
  named,
  openConsole,
  overflow,
  pictures,
  type StartedConsole,
  screens,
  shows,
  startConsole,
  violationsOf,
} from "./console-page.ts";
import { choose, valueEditor as editor, putSetting, row, rows, storedSetting } from "./console-root-key-page.ts";

const settings = {
  currency: "EUR",
  freeShippingFrom: 40.5,
  beta: false,
  successor: null,
  openingHours: [
    { days: ["Mon", "Tue"], from: "09:00" },
    { days: ["Sat"], from: "10:00" },
  ],
  "a/b c?": { "": "no name", "..": "two dots" },
};
const initialValue = JSON.stringify(settings).replace("40.5", "12345678901234567890");

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withKey("reader", { access: "Read" }),
  withRootKey("settings", { initialValue }),
  withRootKey("numbers", { initialValue: JSON.stringify(Array.from({ length: 450 }, (_, index) => index)) }),
  withRootKey("fixed", {
    initialValue: '{"version":[1,2]}',
    access: { create: "Nobody", update: "Nobody", delete: "Nobody" },
  }),
  withRootKey("log", { initialValue: '{"entries":[1,2]}', access: { update: "Nobody", delete: "Nobody" } }),
  withRootKey("inbox", { access: { read: "Nobody" } }),
);

let started: StartedConsole;
let served: Served;

beforeAll(async () => {
  started = await startConsole(shop);
  served = started.served;
});

afterAll(() => started?.stop());

beforeEach(async () => {
  await put("", initialValue);
});

const put = (path: string, body: string): Promise<void> => putSetting(served, path, body);

const urlOf = (path: string) => `${served.origin}${served.base}/json/settings${path}`;

const stored = (path = ""): Promise<unknown> => storedSetting(served, path);

function opened(rootKey = "settings", more: Pick<ConsoleVisit, "as" | "options"> = {}): Promise<Page> {
  return openConsole({ ...started, fragment: `/json/${rootKey}`, ...more });
}

describe("a root key in the console", () => {
  it.each(screens)(
    "shows its tree and an editor at $width px in $scheme, and nothing that axe finds",
    async (options) => {
      const page = await opened("settings", { options });
      const name = `root-key-${options.width}-${options.scheme}`;
      await page.until(row("openingHours"));
      expect(await page.evaluate(`${rows}.map(({ ariaExpanded, ariaLevel }) => ariaLevel + ariaExpanded)`)).toEqual([
        "1true",
        ...Array.from({ length: 4 }, () => "2null"),
        ...Array.from({ length: 2 }, () => "2false"),
      ]);
      await page.evaluate(`${row("openingHours")}.querySelector('.expander').click()`);
      await choose(page, "openingHours", "settings › openingHours");
      await page.until(`${editor}.innerText.includes('Tue')`);
      expect(await page.evaluate(`${rows}.length`)).toBe(9);
      await page.picture(`${pictures}${name}.png`);
      expect(await violationsOf(page)).toEqual([]);

      await enter(page, '[{"days": [1, true, null], "from" "09:00"}]', editor);
      await page.until("document.querySelector('.json-faults li')");
      expect(await page.evaluate("document.querySelector('.json-faults').innerText")).toMatch(/^Line 1 Expected ':'/);
      expect(await page.evaluate("document.querySelectorAll('.cm-lint-marker-error').length")).toBe(1);
      expect(await page.evaluate("document.querySelectorAll('.cm-lintRange-error').length")).toBeGreaterThan(0);
      await page.evaluate(`${named("Add an entry at the end")}.click()`);
      await page.picture(`${pictures}${name}-fault.png`);
      expect(await violationsOf(page)).toEqual([]);

      await page.evaluate(`${named("Delete…")}.click()`);
      await page.until("document.querySelector('dialog[open]')");
      await page.picture(`${pictures}${name}-dialog.png`);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate(overflow)).toBe(0);
      expect(complaintsOf(page)).toEqual([]);
    },
  );

  it("saves a value as it is typed, by Save and by Ctrl-S, and shows it in the tree", async () => {
    const page = await opened();
    await choose(page, "currency", "settings › currency");
    await page.until(`${editor}.innerText === '"EUR"'`);
    await enter(page, '"CHF"', editor);
    const before = page.requests.length;
    await page.evaluate(`${named("Save")}.click()`);
    await page.until(`${row("currency")}?.innerText.includes("CHF")`);
    expect(await stored("/currency")).toBe("CHF");
    expect(await page.evaluate(`${row("currency")}.ariaSelected`)).toBe("true");
    expect(await page.evaluate(shows("Saved."))).toBe(true);
    // The write, and the tree.
    expect(page.requests.slice(before)).toEqual([urlOf("/currency"), urlOf("")]);

    await choose(page, "freeShippingFrom", "settings › freeShippingFrom");
    await page.until(`${editor}.innerText === "12345678901234567890"`);
    await enter(page, "12345678901234567891", editor);
    await page.press("s", "Control");
    await page.until(`${row("freeShippingFrom")}?.innerText.includes("12345678901234567891")`);
    expect((await served.send("/json/settings/freeShippingFrom")).text).toBe("12345678901234567891");
    expect(complaintsOf(page)).toEqual([]);
  });

  it("changes a text, a number, or a yes or no without JSON, and never saves what isn't JSON", async () => {
    const page = await opened();
    const control = "document.querySelector('.value form input')";
    const edit = async (name: string, text: string, saved: unknown): Promise<void> => {
      await page.until(row(name));
      await page.evaluate(`${row(name)}.click()`);
      await page.until(`${control}?.labels[0].innerText === ${JSON.stringify(name)}`);
      await page.evaluate(`${control}.focus(); ${control}.select()`);
      await page.type(text);
      await page.press("Enter");
      await page.until(shows("Saved."));
      expect(await stored(`/${name}`)).toBe(saved);
    };
    await edit("currency", "CHF", "CHF");
    await edit("freeShippingFrom", "45.5", 45.5);
    await page.evaluate(`${row("beta")}.click()`);
    await page.until(`${control}?.type === "checkbox"`);
    await page.evaluate(`${control}.click()`);
    await click(page, "Save");
    await page.until(shows("Saved."));
    expect(await stored("/beta")).toBe(true);
    // What somebody else has changed is shown in the tree, too.
    await put("/currency", '"GBP"');
    await page.evaluate(`${row("currency")}.click()`);
    await page.until(`${row("currency")}.innerText.includes("GBP")`);
    expect(await violationsOf(page)).toEqual([]);
    await click(page, "JSON");
    await page.until(editor);
    await enter(page, "CHF", editor);
    expect(await page.evaluate(`${named("Save")}.ariaDisabled`)).toBe("true");
    expect(complaintsOf(page)).toEqual([]);
  });

  it("adds members and elements, and says why it can't", async () => {
    const page = await opened();
    await page.until(named("Add a value"));
    await page.evaluate(`${named("Add a value")}.click()`);
    const name = "document.querySelector('.add input')";
    const value = "document.querySelector('.add .cm-content')";
    await page.evaluate(`${name}.focus()`);
    await page.type("50% / off");
    await enter(page, '{"until": 1.0}', value);
    await page.evaluate(`${named("Add")}.click()`);
    await page.until(`${rows}.some((each) => each.innerText.startsWith("50% / off"))`);
    expect((await served.send("/json/settings/50%25%20%2F%20off")).text).toBe('{"until":1.0}');
    expect(await page.evaluate(shows("Added 50% / off."))).toBe(true);
    expect(await page.evaluate(`document.activeElement === ${name} && ${name}.value === ""`)).toBe(true);

    await page.type("currency");
    await enter(page, "1", value);
    await page.evaluate(`${named("Add")}.click()`);
    await page.until("document.querySelector('.add [role=alert]')");
    expect(await page.evaluate("document.querySelector('.add [role=alert]').innerText")).toMatch(/exists/);
    expect(await stored("/currency")).toBe("EUR");
    await page.evaluate(`${name}.focus(); ${name}.select()`);
    await page.type("..");
    await page.evaluate(`${named("Add")}.click()`);
    await page.until(shows("A URL can't contain this name"));

    await page.evaluate(`${row("openingHours")}.click()`);
    await page.until("document.querySelector('dialog[open]')");
    await page.evaluate(`${named("Discard")}.click()`);
    await page.until(named("Add an entry at the end"));
    await page.evaluate(`${named("Add an entry at the end")}.click()`);
    await enter(page, '{"days": []}', value);
    await page.press("s", "Control");
    await page.until(shows("Added an entry."));
    expect(await stored("/openingHours/2")).toEqual({ days: [] });
    await page.until(`${row("openingHours")}.innerText.includes("3 entries")`);
  });

  it("deletes after it was asked for, and shows the parent", async () => {
    const page = await opened();
    await page.until(row("a/b"));
    await choose(page, "currency", "settings › currency");
    await page.evaluate(`${named("Delete…")}.focus(); ${named("Delete…")}.click()`);
    await page.until("document.querySelector('dialog[open]')");
    expect(await page.evaluate(focused)).toBe("Cancel");
    await page.press("Escape");
    await page.until("document.querySelector('dialog') === null");
    expect(await page.evaluate(focused)).toBe("Delete…");
    expect(await stored("/currency")).toBe("EUR");

    await page.evaluate(`${named("Delete…")}.click()`);
    await page.until(named("Delete"));
    await put("/currency", '"GBP"');
    await page.evaluate(`${named("Delete")}.click()`);
    await page.until(shows("Somebody else changed this value"));
    expect(await stored("/currency")).toBe("GBP");
    await page.evaluate(`${named("Delete it anyway")}.click()`);
    await page.until(`document.querySelector('.path').innerText === 'settings' && !${row("currency")}`);
    expect(await stored()).not.toHaveProperty("currency");
    expect(await page.evaluate(focused)).toMatch(/^settings/);
    // The value itself belongs to its manifest.
    await page.until(editor);
    expect(await page.evaluate(`${named("Delete…")} === undefined`)).toBe(true);
  });

  it("deletes no element that has taken the place of the one that was shown", async () => {
    const page = await opened();
    await page.until(row("openingHours"));
    await page.evaluate(`${row("openingHours")}.querySelector('.expander').click()`);
    await choose(page, "1", "settings › openingHours › 1");
    await page.until(`${editor}.innerText.includes('Sat')`);
    const sunday = { days: ["Sun"], from: "11:00" };
    await put("/openingHours", JSON.stringify([...settings.openingHours.slice(1), sunday]));
    await click(page, "Delete…");
    await click(page, "Delete");
    await page.until(shows("Somebody else changed the list around this value meanwhile"));
    expect(await page.evaluate(`${named("Delete it anyway")} === undefined`)).toBe(true);
    expect(await page.evaluate(shows("Sun"))).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await page.picture(`${pictures}root-key-moved.png`);
    expect(await stored("/openingHours")).toEqual([settings.openingHours[1], sunday]);
    await click(page, "Keep it");
    await page.evaluate(`${row("1")}.querySelector('.expander').click()`);
    await page.until(`${editor}.innerText.includes('Sun') && ${row("from")}?.innerText.includes("11:00")`);
    // In its place, it is still the same element.
    await put("/openingHours/1/from", '"12:00"');
    await click(page, "Delete…");
    await click(page, "Delete");
    await page.until(shows("Somebody else changed this value meanwhile"));
    await click(page, "Delete it anyway");
    await page.until(`document.querySelector('.path').innerText === 'settings › openingHours'`);
    expect(await stored("/openingHours")).toEqual([settings.openingHours[1]]);
    // Nothing is there any more, but it is not known whether that was deleted.
    await choose(page, "0", "settings › openingHours › 0");
    await page.until(`${editor}.innerText.includes('Sat')`);
    await put("/openingHours", "[]");
    await click(page, "Delete…");
    await click(page, "Delete");
    await page.until(shows("Nothing was deleted"));
    await click(page, "Close");
    await page.until(`${row("openingHours")}.innerText.includes("0 entries")`);
  });

  it("is worked by the keyboard alone, and the Tab key leaves the editor", async () => {
    const page = await opened();
    await page.until(row("openingHours"));
    await page.evaluate(`${rows}[0].focus()`);
    await page.press("End");
    await page.press("ArrowUp");
    expect(await page.evaluate(focused)).toMatch(/^openingHours/);
    await page.press("ArrowRight");
    await page.until(`${rows}.length === 9`);
    await page.press("ArrowRight");
    await page.press("ArrowDown");
    await page.press("ArrowRight");
    await page.until(`${rows}.length === 11`);
    await page.press("ArrowDown");
    expect(await page.evaluate("document.activeElement.ariaLevel + document.activeElement.innerText")).toMatch(
      /^4days/,
    );
    await page.press("Enter");
    await page.until("document.querySelector('.path').innerText === 'settings › openingHours › 1 › days'");
    await page.press("ArrowLeft");
    await page.press("ArrowLeft");
    await page.until(`${rows}.length === 9`);
    expect(await page.evaluate(`${rows}.filter(({ tabIndex }) => tabIndex === 0).length`)).toBe(1);
    await page.until(editor);
    await page.press("Tab");
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Value of settings › openingHours › 1 › days");
    await page.press("Tab");
    expect(await page.evaluate(focused)).toBe("Save");
  });

  it("shows 200 children at a time", async () => {
    const page = await opened("numbers");
    await page.until(named("Reload"));
    await page.until(`${rows}.length === 202`);
    expect(await page.evaluate(`${rows}.at(-1).innerText`)).toBe("Show more (250 left)");
    await page.evaluate(`${rows}.at(-1).click()`);
    await page.until(`${rows}.length === 402`);
    expect(await page.evaluate(focused)).toBe("200 200");
    await page.press("End");
    await page.press("Enter");
    await page.until(`${rows}.length === 451`);
  });

  it("shows what no URL can name, and leaves it to the object around it", async () => {
    const page = await opened();
    await page.until(row("a/b"));
    await page.evaluate(`${row("a/b")}.querySelector('.expander').click()`);
    await choose(page, "..", "settings › a/b c? › ..");
    expect(await page.evaluate(`${editor}.innerText`)).toBe('"two dots"');
    expect(await page.evaluate(`${editor}.ariaReadOnly`)).toBe("true");
    await choose(page, "a/b", "settings › a/b c?");
    await page.until(`${editor}.innerText.includes("two dots")`);
  });

  it("offers no change of what nobody may change", async () => {
    const page = await opened("fixed");
    await choose(page, "version", "fixed › version");
    await page.until(`${editor}.innerText.includes('2')`);
    expect(await page.evaluate(`${editor}.ariaReadOnly`)).toBe("true");
    await page.evaluate(`${editor}.focus()`);
    await page.type("3");
    expect(await page.evaluate(`${editor}.innerText`)).toBe("[\n  1,\n  2\n]");
    const offers =
      "[...document.querySelectorAll('main button, main summary')].filter((each) => each.checkVisibility()).map((each) => each.innerText)";
    expect(await page.evaluate(offers)).toEqual(["Reload"]);
    await page.evaluate("location.hash = '#/json/log'");
    await page.until(`${shows("entries")} && ${editor}.innerText.includes('entries')`);
    await choose(page, "entries", "log › entries");
    // What may only be added to is neither saved nor deleted.
    await page.until(`${offers}.length === 2`);
    expect(await page.evaluate(offers)).toEqual(["Reload", "Add an entry at the end"]);
  });

  it("lets a value be replaced that nobody may read", async () => {
    const page = await opened("inbox");
    await page.until(editor);
    await enter(page, '{"letter": 1}', editor);
    await page.evaluate("document.querySelector('nav.data a[href=\"#/json/settings\"]').click()");
    await page.until("document.querySelector('dialog[open] h2')?.innerText === 'Discard what you entered?'");
    await click(page, "Cancel");
    const writes = await holdAnswers(page, "PUT");
    await page.evaluate(`${named("Replace…")}.click()`);
    await page.until(named("Replace"));
    await page.evaluate(`${named("Replace")}.click()`);
    await page.until(`${writes.held} === 1 && ${shows("Replacing…")} && ${named("Replace…")}.ariaDisabled === "true"`);
    await writes.release();
    await page.until(shows("Replaced."));
    await page.evaluate("document.querySelector('nav.data a[href=\"#/json/settings\"]').click()");
    await page.until(row("currency"));
    expect(complaintsOf(page)).toEqual([]);
  });
});
