// Drafts of values of root keys in the console in a real browser: nothing that was entered is lost,
// and nothing that nobody has seen is overwritten. Pictures lie in out/console/ for whoever wants
// to look.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { apikey, project, withConfig, withKey, withRootKey } from "../support/http/projects.ts";
import type { Served } from "../support/http/served.ts";
import type { Page } from "./browser.ts";
import {
  type ConsoleVisit,
  click,
  complaintsOf,
  enter,
  fill,
  holdAnswers,
  named,
  openConsole,
  pictures,
  type StartedConsole,
  shows,
  startConsole,
} from "./console-page.ts";
import { choose, valueEditor as editor, putSetting, row, storedSetting } from "./console-root-key-page.ts";

const settings = { currency: "EUR", beta: false };
const initialValue = JSON.stringify(settings);

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withKey("reader", { access: "Read" }),
  withRootKey("settings", { initialValue }),
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
const stored = (path = ""): Promise<unknown> => storedSetting(served, path);

function opened(more: Pick<ConsoleVisit, "as"> = {}): Promise<Page> {
  return openConsole({ ...started, fragment: "/json/settings", ...more });
}

describe("a draft of a value", () => {
  it("keeps what was typed when somebody else was faster, and loads or overwrites as asked", async () => {
    const page = await opened();
    await choose(page, "beta", "settings › beta");
    await page.until(`${editor}.innerText === "false"`);
    await enter(page, '"mine"', editor);
    await put("/beta", '"theirs"');
    await page.evaluate(`${named("Save")}.click()`);
    await page.until(shows("Somebody else changed this value"));
    await page.picture(`${pictures}root-key-conflict.png`);
    expect(await stored("/beta")).toBe("theirs");
    expect(await page.evaluate(`${editor}.innerText`)).toBe('"mine"');
    await page.evaluate(`${named("Save mine over it")}.click()`);
    await page.until(`${row("beta")}?.innerText.includes("mine")`);
    expect(await stored("/beta")).toBe("mine");
    expect(await page.evaluate(shows("Somebody else"))).toBe(false);
    expect(await page.evaluate("document.activeElement.className")).toBe("path");

    await enter(page, '"mine again"', editor);
    await put("/beta", '"theirs again"');
    await page.press("s", "Control");
    await page.until(shows("Somebody else changed this value"));
    await page.evaluate(`${named("Take theirs, drop mine")}.click()`);
    await page.until(`${editor}.innerText === '"theirs again"'`);
    await page.until(`${row("beta")}?.innerText.includes("theirs again")`);
    expect(await stored("/beta")).toBe("theirs again");

    await enter(page, '"third"', editor);
    expect((await served.send("/json/settings/beta", { method: "DELETE", as: apikey("staff") })).status).toBe(200);
    await page.evaluate(`${named("Save")}.click()`);
    await page.until(shows("Somebody else deleted this value"));
    await page.evaluate(`${named("Save mine again")}.click()`);
    await page.until(shows("Saved."));
    expect(await stored("/beta")).toBe("third");
    expect(complaintsOf(page, /412 |404 .*settings.beta/)).toEqual([]);
  });

  it("asks before it overwrites what changed again after the conflict was shown", async () => {
    const page = await opened();
    await choose(page, "beta", "settings › beta");
    await page.until(`${editor}.innerText === "false"`);
    await enter(page, '"mine"', editor);
    await put("/beta", '"theirs"');
    await page.evaluate(`${named("Save")}.click()`);
    await page.until(shows("Somebody else changed this value"));
    await put("/beta", '"newer"');
    const before = page.requests.length;
    await page.evaluate(`${named("Save mine over it")}.click()`);
    await page.until(`${named("Save mine over it")}?.ariaDisabled === "false"`);
    // The write, and one look at what is stored.
    expect(page.requests.length).toBe(before + 2);
    expect(await stored("/beta")).toBe("newer");
    await page.evaluate(`${named("Save mine over it")}.click()`);
    await page.until(shows("Saved."));
    expect(await stored("/beta")).toBe("mine");
  });

  it("keeps what was typed while the value can't be read anew", async () => {
    const page = await opened();
    await choose(page, "currency", "settings › currency");
    await page.until(`${editor}.innerText === '"EUR"'`);
    await enter(page, '"CHF"', editor);
    await page.evaluate(`${named("Reload")}.click()`);
    await page.evaluate("globalThis.fetch = () => Promise.reject(new TypeError('gone'))");
    await page.evaluate(`${named("Reload")}.click()`);
    await page.until(shows("The server can't be reached."));
    expect(await page.evaluate(`${editor}.innerText`)).toBe('"CHF"');
    await page.evaluate(`${row("beta")}.click()`);
    await page.until("document.querySelector('dialog[open]')");
    await page.evaluate(`${named("Cancel")}.click()`);
    expect(await page.evaluate(`${editor}.innerText`)).toBe('"CHF"');
  });

  it("keeps what was entered for a new member while the value can't be read anew", async () => {
    const page = await opened();
    await click(page, "Add a value");
    await fill(page, ".add input", "half a name");
    await page.evaluate("globalThis.fetch = () => Promise.reject(new TypeError('gone'))");
    await click(page, "Reload");
    await page.until(shows("The server can't be reached."));
    expect(await page.evaluate("document.querySelector('.add input').value")).toBe("half a name");
    await page.evaluate(`${row("beta")}.click()`);
    await click(page, "Discard");
    await page.until("document.querySelector('.path').innerText === 'settings › beta'");
  });

  it("keeps what is entered while a save is under way, and saves it next", async () => {
    const page = await opened();
    await choose(page, "beta", "settings › beta");
    await page.until(`${editor}.innerText === "false"`);
    await enter(page, '"first"', editor);
    const writes = await holdAnswers(page, "PUT");
    await page.press("s", "Control");
    await page.until(`${writes.held} === 1 && ${shows("Saving…")}`);
    await enter(page, '"second"', editor);
    await writes.release();
    await page.until(`${named("Save")}.ariaDisabled === "false" && ${row("beta")}?.innerText.includes("first")`);
    expect(await page.evaluate(`${editor}.innerText`)).toBe('"second"');
    await click(page, "Save");
    await page.until(shows("Saved."));
    expect(await stored("/beta")).toBe("second");
    expect(complaintsOf(page)).toEqual([]);
  });

  it("says in words that the server is gone, and keeps what was typed", async () => {
    const page = await opened();
    await choose(page, "currency", "settings › currency");
    await enter(page, '"CHF"', editor);
    await page.evaluate("globalThis.fetch = () => Promise.reject(new TypeError('gone'))");
    await page.evaluate(`${named("Save")}.click()`);
    await page.until(shows("The server can't be reached."));
    expect(await stored("/currency")).toBe("EUR");
    expect(await page.evaluate(`${editor}.innerText`)).toBe('"CHF"');
  });

  it("is no draft for a caller who may only read: there is nothing to save", async () => {
    const page = await opened({ as: "reader" });
    await choose(page, "currency", "settings › currency");
    await page.until(`${editor}.innerText === '"EUR"'`);
    expect(await page.evaluate(`${named("Save")} === undefined || ${named("Save")}.disabled`)).toBe(true);
  });
});
