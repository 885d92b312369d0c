// What the console offers to whom, in a real browser: by access rules, role and access level.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  apikey,
  project,
  withConfig,
  withKey,
  withResource,
  withRootKey,
  withServing,
} from "../support/http/projects.ts";
import type { Page } from "./browser.ts";
import {
  bookProperties,
  click,
  faults,
  named,
  pictures,
  type StartedConsole,
  screens,
  signInWithKey,
  startConsole,
  violationsOf,
  wide,
} from "./console-page.ts";

const access = { read: "Anyone", delete: "Administrators" } as const;

const shop = project(
  "shop",
  withConfig({ console: "Anyone" }),
  withKey("staff", { role: "Administrators" }),
  withKey("visitor", { role: "Administrators", access: "Read" }),
  withKey("writer"),
  withResource("books", {
    access,
    scope: { read: "All", write: "All" },
    schema: { type: "object", properties: bookProperties },
  }),
  withResource("tasks", {
    scope: { read: "All", write: "Own" },
    schema: { properties: { title: { type: "string" } } },
  }),
  withRootKey("settings"),
);

let started: StartedConsole;
let id: string;

beforeAll(async () => {
  started = await startConsole(shop);
  const staff = apikey("staff");
  const reply = await started.served.send("/api/books", { method: "POST", as: staff, body: { title: "Emma" } });
  id = reply.json<{ id: string }>().id;
  await started.served.send("/json/settings", { method: "PUT", as: staff, body: { currency: "EUR" } });
});

afterAll(() => started?.stop());

async function opened(fragment: string, as: string | undefined): Promise<Page> {
  const { origin, base } = started.served;
  const page = await started.browser.open(wide);
  await page.goto(`${origin}${base}/console#${fragment}`);
  await page.until("document.querySelector('main h1')");
  if (as === undefined) return page;
  await click(page, "Sign in");
  await signInWithKey(page, as);
  return page;
}

describe("who opens the console", () => {
  it.each([
    ["without credentials", undefined, []],
    ["with the access level Read", "visitor", []],
    ["with the role Users", "writer", ["New book", "Save"]],
    ["with the role Administrators", "staff", ["New book", "Save", "Delete…"]],
  ] as const)("%s reads without being asked for more, and is offered what it may write", async (_, as, offered) => {
    const found: string[] = [];
    const page = await opened("/api/books", as);
    for (const [fragment, ready, buttons] of [
      ["/api/books", "document.querySelector('tbody a')", ["New book"]],
      [`/api/books/${id}`, "document.querySelector('main').innerText.includes('Emma')", ["Save", "Delete…"]],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
      await page.until(ready);
      for (const button of buttons) if (await page.evaluate(`${named(button)} !== undefined`)) found.push(button);
    }
    expect(found).toEqual(offered);
    const isReadOnly = "document.querySelector('form.object input').matches(':disabled')";
    expect(await page.evaluate(isReadOnly)).toBe(found.length === 0);
  });

  it("without credentials asks on the first page for nothing that it may not read", async () => {
    const page = await opened("/", undefined);
    await page.until("document.querySelector('main').innerText.includes('1 book')");
    expect(page.requests.filter((url) => url.includes("/api/tasks"))).toEqual([]);
  });

  it.each([
    ["to sign in", undefined, "You have to sign in to create objects of books. Sign in"],
    ["that it may not", "visitor", "visitor may not create objects of books."],
  ] as const)("at the address of a new object is told %s, where that is so", async (_, as, words) => {
    const page = await opened("/new/books", as);
    await page.until(`${faults}[0] === ${JSON.stringify(words)}`);
    expect(await violationsOf(page)).toEqual([]);
  });

  it("is offered to change only what it has created, where others' objects are read-only", async () => {
    const send = async (as: string, title: string) => {
      const reply = await started.served.send("/api/tasks", { method: "POST", as: apikey(as), body: { title } });
      return reply.json<{ id: string }>().id;
    };
    const [own, other] = [await send("writer", "Own"), await send("staff", "Other")];
    const page = await opened(`/api/tasks/${other}`, "writer");
    await page.until("document.querySelector('main').innerText.includes('You may read this, not change it.')");
    expect(await page.evaluate(`${named("Delete…")} === undefined`)).toBe(true);
    await page.evaluate(`location.hash = '#/api/tasks/${own}'`);
    await page.until(`${named("Save")} !== undefined && ${named("Delete…")} !== undefined`);
    await page.evaluate("location.hash = '#/api/tasks'");
    await click(page, "Edit cells");
    const cells = "[...document.querySelectorAll('button.cell')].map((each) => each.firstChild.innerText)";
    await page.until(`${cells}.length > 0`);
    expect(await page.evaluate(cells)).toEqual(["Own"]);
  });

  it("is offered no change where the project is read-only, and reads why", async () => {
    started.served.change(withServing("ReadOnly"));
    try {
      const page = await opened(`/api/books/${id}`, "staff");
      await page.until("document.querySelector('.bar').innerText.includes('read-only')");
      await page.until("document.querySelector('form.object input')?.matches(':disabled')");
      expect(await page.evaluate(`[${named("Save")}, ${named("Delete…")}].every((each) => each === undefined)`)).toBe(
        true,
      );
      for (const options of screens) {
        await page.look(options);
        expect(await violationsOf(page)).toEqual([]);
        await page.picture(`${pictures}read-only-${options.width}-${options.scheme}.png`);
      }
      await page.evaluate("location.hash = '#/new/books'");
      await page.until(`${faults}[0] === "The project is read-only: nothing can be created."`);
    } finally {
      started.served.change(withServing("ReadWrite"));
    }
  });

  it("is offered no change of a root key that it may not change", async () => {
    const page = await opened("/json/settings", undefined);
    await page.until("document.querySelector('main').innerText.includes('currency')");
    expect(await page.evaluate(`[${named("Save")}, ${named("Delete…")}].every((each) => each === undefined)`)).toBe(
      true,
    );
  });
});
