// Forms and lists of the console in a real browser, as people use them who don't know JSON: what a
// form shows and stores, values that are edited in the list, and the console on a phone. Pictures
// lie in out/console/ for whoever wants to look.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { apikey, project, withConfig, withKey, withResource } from "../support/http/projects.ts";
import type { Served } from "../support/http/served.ts";
import type { Page, PageOptions } from "./browser.ts";
import {
  click,
  complaintsOf,
  objectEditor as editor,
  enter,
  focused,
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
} from "./console-page.ts";

const address = {
  type: "object",
  required: ["name", "country"],
  properties: {
    name: { type: "string", examples: ["Ada Lovelace"] },
    country: { type: "string", pattern: "^[A-Z]{2}$" },
  },
};

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withResource("orders", {
    scope: { read: "All", write: "All" },
    indexes: ["total"],
    schema: {
      type: "object",
      required: ["total", "lines", "shipTo"],
      properties: {
        total: { type: "number", minimum: 0, multipleOf: 0.01, description: "With tax." },
        state: { enum: ["placed", "paid"] },
        due: { type: "string", format: "date" },
        gift: { type: "boolean" },
        number: { type: "integer" },
        note: { type: ["string", "null"] },
        lines: {
          type: "array",
          minItems: 1,
          items: { type: "object", required: ["book"], properties: { book: { type: "string" } } },
        },
        shipTo: { ...address, title: "Delivery address" },
        billTo: address,
        tags: { type: "array", items: { type: "string" } },
        either: { oneOf: [{ type: "string" }, { type: "object" }] },
      },
    },
  }),
);

const phone: PageOptions = { width: 375, height: 800, scheme: "light" };
const order =
  '{"total":1.0,"number":9007199254740993,"note":null,"lines":[{"book":"Emma","unknown":1}],' +
  '"shipTo":{"name":"Jane","country":"GB"},"either":{"a":1.50},"unknown":[1,2]}';

let started: StartedConsole;
let served: Served;
let id: string;

beforeAll(async () => {
  started = await startConsole(shop);
  served = started.served;
});

afterAll(() => started?.stop());

async function removeAll(): Promise<void> {
  const { items } = (await served.send("/api/orders?_limit=100", { as: apikey("staff") })).json<{
    items: { id: string }[];
  }>();
  for (const item of items) await served.send(`/api/orders/${item.id}`, { method: "DELETE", as: apikey("staff") });
}

beforeEach(async () => {
  await removeAll();
  id = await create(order);
});

async function create(body: string): Promise<string> {
  const reply = await served.send("/api/orders", { method: "POST", as: apikey("staff"), body });
  expect(reply.status).toBe(201);
  return reply.json<{ id: string }>().id;
}

const stored = async (): Promise<string> => {
  const { text } = await served.send(`/api/orders/${id}`, { as: apikey("staff") });
  return text.replace(/^\{"id":"[^"]*",/, "{").replace(/,"_metadata":\{[^}]*\}/, "");
};

const change = (patch: object) =>
  served.send(`/api/orders/${id}`, {
    method: "PATCH",
    as: apikey("staff"),
    headers: { "content-type": "application/merge-patch+json" },
    body: patch,
  });

const opened = (fragment: string, options?: PageOptions): Promise<Page> =>
  openConsole({ ...started, fragment, ...(options !== undefined && { options }) });

/** An expression: the control with this label. */
const control = (label: string) =>
  `[...document.querySelectorAll('form.object .field')].find((each) =>
    (each.querySelector('label')?.innerText ?? '').split(' ')[0] === ${JSON.stringify(label)})
    ?.querySelector('input, select, textarea')`;

/** Replaces what a control has, as a person does. */
async function put(page: Page, label: string, text: string): Promise<void> {
  await page.until(control(label));
  await page.evaluate(`${control(label)}.focus(); ${control(label)}.select?.()`);
  await page.type(text);
}

/** Chooses or picks a value. */
const set = (page: Page, label: string, value: string, event: "input" | "change") =>
  page.evaluate(`((each) => { each.value = ${JSON.stringify(value)};
    each.dispatchEvent(new Event('${event}', { bubbles: true })); })(${control(label)})`);

describe("the form of an object", () => {
  it("stores what was entered, and leaves everything else as it is to the last digit", async () => {
    const page = await opened(`/api/orders/${id}`);
    await page.until(`document.querySelector('h1').innerText === 'Jane' && ${shows(id)}`);
    expect(await page.evaluate(`${control("number")}.value + ${control("total")}.step`)).toBe("90071992547409930.01");
    await put(page, "total", "12.50");
    await set(page, "state", '"paid"', "change");
    await set(page, "due", "2026-02-01", "input");
    const gift = `${control("gift")}.parentElement.innerText`;
    expect(await page.evaluate(`${gift}.includes("not set") && !${control("gift")}.indeterminate`)).toBe(true);
    await page.evaluate(`${control("gift")}.click()`);
    await page.until(`!${gift}.includes("not set")`);
    await put(page, "country", "FR");
    await click(page, "Add tag");
    await page.until("document.activeElement.matches('.elements input')");
    await page.type("blue");
    await page.press("s", "Control");
    await page.until(shows("Saved."));
    expect(await stored()).toBe(
      '{"total":12.5,"number":9007199254740993,"note":null,"lines":[{"book":"Emma","unknown":1}],' +
        '"shipTo":{"name":"Jane","country":"FR"},"either":{"a":1.5},"unknown":[1,2],' +
        '"state":"paid","due":"2026-02-01","gift":true,"tags":["blue"]}',
    );
    await page.evaluate(`${control("state")}.focus()`);
    await set(page, "state", "", "change");
    await page.evaluate(`document.querySelector('[aria-label="Remove tag 1"]').click()`);
    expect(await page.evaluate(focused)).toBe("Add tag");
    await click(page, "Save");
    await page.until(shows("Saved."));
    expect(await stored()).toMatch(/"due":"2026-02-01","gift":true,"tags":\[\]\}$/);
    expect(complaintsOf(page)).toEqual([]);
  });

  it.each(screens)("is accessible at $width px in $scheme, with what the server has against it", async (options) => {
    const page = await opened(`/api/orders/${id}`, options);
    await put(page, "total", "-1");
    await put(page, "country", "France");
    await click(page, "Save");
    await page.until("document.querySelector('.wrong')");
    const wrong = "[...document.querySelectorAll('.wrong')].map((each) => each.innerText)";
    expect(await page.evaluate(wrong)).toHaveLength(2);
    expect(await page.evaluate(`document.activeElement === ${control("total")}`)).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(overflow)).toBe(0);
    await page.picture(`${pictures}form-${options.width}-${options.scheme}.png`);
    await put(page, "total", "1");
    await page.until(`${wrong}.length === 1`);
  });

  it("stores only the person's own changes over what somebody else has changed meanwhile", async () => {
    const page = await opened(`/api/orders/${id}`, { ...phone, height: 400 });
    await put(page, "total", "16");
    await put(page, "name", "Ada");
    await change({ total: 20, pages: 600, shipTo: { country: "FR" } });
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await click(page, "Save");
    await page.until(shows("Somebody else changed this object meanwhile."));
    const at = (selector: string) => `document.querySelector('${selector}').getBoundingClientRect()`;
    expect(await page.evaluate(`${at(".conflict")}.top >= ${at(".bar")}.bottom`)).toBe(true);
    const differences = "[...document.querySelectorAll('.differences li')].map((each) => each.innerText)";
    expect((await page.evaluate<string[]>(differences)).map((each) => each.replace(/\s+/g, " "))).toEqual([
      "total changed by both Stored now 20 Yours 16",
      "Delivery address › name changed by you Stored now Jane Yours Ada",
      "Delivery address › country changed by somebody else Stored now FR Yours GB",
      "pages changed by somebody else Stored now 600 Yours none",
    ]);
    await page.picture(`${pictures}form-conflict.png`);
    await click(page, "Save mine over it");
    await page.until(shows("Saved."));
    expect(await stored()).toBe(
      order
        .replace('"total":1.0', '"total":16')
        .replace('"name":"Jane","country":"GB"', '"name":"Ada","country":"FR"')
        .replace("1.50", "1.5")
        .replace(/\}$/, ',"pages":600}'),
    );
  });

  it("is the same text as the JSON beside it, where what the form can't show is edited", async () => {
    const page = await opened(`/api/orders/${id}`);
    await put(page, "total", "2");
    await page.evaluate(`${control("total")}.focus()`);
    await click(page, "Edit either as JSON");
    await page.until(`${editor}?.innerText.includes('"total": 2')`);
    await enter(page, '{"total":3,', editor);
    await click(page, "Form");
    await page.until(shows("The text isn't a JSON object yet."));
    await showJson(page);
    await enter(page, order.replace('"total":1.0', '"total":3').replace('{"a":1.50}', '"b"'), editor);
    await page.evaluate("document.querySelector('[role=tab][aria-selected=true]').focus()");
    await page.press("ArrowLeft");
    await page.until(`${control("total")}?.value === "3" && ${focused} === "Form"`);
    await click(page, "Save");
    await page.until(shows("Saved."));
    expect(await stored()).toBe(order.replace('"total":1.0', '"total":3').replace('{"a":1.50}', '"b"'));
  });

  it("of a new object begins with what is required, and stores no example", async () => {
    const page = await opened("/new/orders");
    await page.until(control("total"));
    expect(await page.evaluate(`${control("name")}.placeholder + ${control("name")}.value`)).toBe("Ada Lovelace");
    await click(page, "Create");
    await page.until(shows("Fill this in."));
    await page.picture(`${pictures}new-order.png`);
    await put(page, "total", "5");
    await put(page, "name", "Grace");
    await put(page, "country", "US");
    await click(page, "Add line");
    await put(page, "book", "Emma");
    expect(await page.evaluate(shows("Must have at least 1 item"))).toBe(false);
    await page.press("Enter");
    await page.until(`location.hash.startsWith('#/api/orders/') && ${shows("Created.")}`);
    id = (await page.evaluate<string>("location.hash")).split("/").at(-1) ?? "";
    expect(await stored()).toBe('{"lines":[{"book":"Emma"}],"shipTo":{"name":"Grace","country":"US"},"total":5}');
  });
});

const row = (name: string) =>
  `[...document.querySelectorAll('tbody tr')].find((each) => each.innerText.includes(${JSON.stringify(name)}))`;

describe("a list", () => {
  it("leads with what people read, and has rows that are links from end to end", async () => {
    await change({ shipTo: { name: "Row" } });
    const page = await opened("/api/orders");
    await page.until(row("Row"));
    const headings = "[...document.querySelectorAll('thead th')].map((each) => each.innerText.split(/\\s/)[0])";
    const shown = await page.evaluate<string[]>(headings);
    expect([shown[0], shown.at(-1)]).toEqual(["shipTo.name", "id"]);
    expect(shown).toContain("due");
    // What lies under a click on the last cell is the link.
    const under = `(({ right, bottom }) => document.elementFromPoint(right - 20, bottom - 5))(${row("Row")}
      .querySelectorAll('td')[1].getBoundingClientRect())`;
    expect(await page.evaluate(`${under}.closest('a')?.hash`)).toBe(`#/api/orders/${id}`);
    await page.evaluate(`${row("Row")}.querySelector('a').focus()`);
    await page.press("Enter");
    await page.until(`location.hash === '#/api/orders/${id}'`);
  });

  it("stores a value that was edited in its cell, unless somebody else has changed the object", async () => {
    await change({ shipTo: { name: "Cell" } });
    const page = await opened("/api/orders");
    const cell = (column: string) =>
      `[...${row("Cell")}.querySelectorAll('button.cell')].find((each) => each.innerText.endsWith(', edit ${column}'))`;
    const edit = async (column: string): Promise<void> => {
      await page.until(cell(column));
      await page.evaluate(`${cell(column)}.click()`);
      await page.until("document.activeElement.closest('.cell-editor')");
    };
    await page.until(row("Cell"));
    await click(page, "Edit cells");
    await edit("total");
    await page.type("7.25");
    await page.press("Escape");
    await page.until(`${focused}.includes("edit total")`);
    await edit("total");
    await page.type("8.5");
    await page.press("Enter");
    await page.until(`${focused}.startsWith("8.5")`);
    expect(await stored()).toContain('{"total":8.5,"number":9007199254740993');

    await change({ note: "theirs" });
    await edit("total");
    await page.type("8.75");
    await page.press("Enter");
    await page.until(`${focused}.startsWith("8.75")`);
    await change({ total: 9 });
    await edit("total");
    await page.type("10");
    await page.press("Enter");
    await page.until(shows("Somebody else changed this meanwhile. Now stored: 9."));
    expect(await stored()).toContain('{"total":9,');
    for (const options of screens) {
      await page.look(options);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate(overflow)).toBe(0);
      await page.picture(`${pictures}cell-${options.width}-${options.scheme}.png`);
    }
    await page.press("Enter");
    await page.until(`${focused}.startsWith("10")`);
    expect(await stored()).toContain('{"total":10,');
    expect(await stored()).toContain('"note":"theirs"');

    await edit("total");
    await page.type("-1");
    await page.press("Enter");
    await page.until(shows("Must be at least 0."));
    await click(page, "Cancel");
    await page.until(`${focused}.startsWith("10")`);

    // Leaving a cell saves it, also by going on to another one or to no cells at all.
    await edit("total");
    await page.type("11");
    await edit("number");
    await page.until("document.querySelectorAll('.cell-editor').length === 1");
    expect(await stored()).toContain('{"total":11,');
    await page.type("12");
    await click(page, "Edit cells");
    await page.until(`${named("Edit cells")}.ariaPressed === "false" && !document.querySelector('.cell-editor')`);
    expect(await stored()).toContain('"number":12,');
    expect(complaintsOf(page, /400|412/)).toEqual([]);
  });

  it("says that it is empty, and what to do then", async () => {
    const page = await opened("/api/orders?state=paid&total=0");
    await click(page, "Show all orders");
    await page.until("location.hash === '#/api/orders'");
    await removeAll();
    await page.evaluate("location.hash = '#/api/orders?_sort=total'");
    await page.until(shows("No orders yet."));
    await click(page, "New order");
    await page.until("location.hash === '#/new/orders'");
  });
});

describe("on a phone", () => {
  it("the navigation is behind a button, and the first column of a list can be read", async () => {
    await change({ shipTo: { name: "Charles Babbage of Marylebone, London" } });
    const page = await opened("/api/orders", phone);
    await page.until(row("Babbage"));
    const link = "document.querySelector('nav.data a[href=\"#/api/orders\"]')";
    expect(await page.evaluate(`${link}.checkVisibility()`)).toBe(false);
    const first = `${row("Babbage")}.querySelector('th a')`;
    expect(await page.evaluate(`${first}.scrollWidth <= ${first}.clientWidth && ${first}.clientWidth < 200`)).toBe(
      true,
    );
    // It stays in sight when the others are scrolled.
    const left = `${first}.getBoundingClientRect().left`;
    const before = await page.evaluate(left);
    await page.evaluate("document.querySelector('.scrolls').scrollLeft = 300");
    expect(await page.evaluate(left)).toBe(before);
    await click(page, "Menu");
    await page.until(`${link}.checkVisibility() && ${named("Menu")}.ariaExpanded === "true"`);
    expect(await violationsOf(page)).toEqual([]);
    await page.picture(`${pictures}menu.png`);
    await page.evaluate("location.hash = '#/'");
    await page.until(`!${link}.checkVisibility()`);
    await page.look({ ...phone, width: 1280 });
    expect(await page.evaluate(`${link}.checkVisibility()`)).toBe(true);
    expect(await page.evaluate(`${named("Menu")} === undefined`)).toBe(true);
  });
});
