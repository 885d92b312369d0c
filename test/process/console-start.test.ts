// What the console begins with, in a real browser. Pictures lie in out/console/ for whoever wants
// to look.

import { afterAll, beforeAll, expect, it } from "vitest";
import { apikey, project, withConfig, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { eventually } from "../support/time/eventually.ts";
import {
  bookProperties,
  complaintsOf,
  openConsole,
  overflow,
  pictures,
  type StartedConsole,
  screens,
  shows,
  startConsole,
  violationsOf,
} from "./console-page.ts";

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withKey("writer"),
  withResource("books", {
    scope: { read: "All" },
    schema: { type: "object", description: "Every book that we sell.", properties: bookProperties },
  }),
  withResource("counters", { schema: { type: "object", properties: { value: { type: "integer" } } } }),
  withResource("empties", {}),
  withResource("secrets", { access: { read: "Administrators" } }),
  withRootKey("settings"),
);

let started: StartedConsole;

beforeAll(async () => {
  started = await startConsole(shop);
});

afterAll(() => started?.stop());

async function create(resource: string, as: string, body: object): Promise<string> {
  const reply = await started.served.send(`/api/${resource}`, { method: "POST", as: apikey(as), body });
  return reply.json<{ id: string }>().id;
}

it("shows the number of each resource's objects that the caller may read, and links to the newest three", async () => {
  const ids: string[] = [];
  const long = "A title of a book that is longer than a card of a narrow window is wide";
  for (const title of ["Emma", "Persuasion", long, "Ulysses"]) ids.push(await create("books", "staff", { title }));
  const counter = await create("counters", "writer", { value: 1 });
  await create("secrets", "staff", { title: "Not for writers" });
  const page = await openConsole({ ...started, fragment: "/", as: "writer" });
  await page.until(`${shows("4 books")} && ${shows("1 counter")} && ${shows("No empties yet.")}`);
  const links = `[...document.querySelectorAll('.cards h2 + ul a')].map(({ innerText, hash }) => [innerText, hash])`;
  expect(await page.evaluate(links)).toEqual([
    ["Ulysses", `#/api/books/${ids[3]}`],
    [long, `#/api/books/${ids[2]}`],
    ["Persuasion", `#/api/books/${ids[1]}`],
    [`…${counter.slice(-6)}`, `#/api/counters/${counter}`],
  ]);
  const isRefused = (text: string): boolean => /403 .*api\/secrets/.test(text);
  await eventually(async () => expect(page.complaints.filter(isRefused)).toHaveLength(1));
  expect(await page.evaluate("document.querySelectorAll('.cards h2').length")).toBe(2);
  expect(await page.evaluate("document.querySelector('.fault, [role=alert]')")).toBe(null);
  expect(complaintsOf(page).filter((text) => !isRefused(text))).toEqual([]);
  for (const options of screens) {
    await page.look(options);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(overflow)).toBe(0);
    await page.picture(`${pictures}newest-${options.width}-${options.scheme}.png`);
  }
});
