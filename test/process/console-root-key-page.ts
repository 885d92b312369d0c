// What the tests of root keys in the console share: the root key `settings` as the API has it, and
// its tree and editor on the page.

import { expect } from "vitest";
import { apikey } from "../support/http/projects.ts";
import type { Served } from "../support/http/served.ts";
import type { Page } from "./browser.ts";

/** Stores a value at a path of `settings`. */
export async function putSetting(served: Served, path: string, body: string): Promise<void> {
  const reply = await served.send(`/json/settings${path}`, { method: "PUT", as: apikey("staff"), body });
  expect(reply.status).toBeLessThan(300);
}

/** What is stored at a path of `settings`. */
export async function storedSetting(served: Served, path: string): Promise<unknown> {
  return (await served.send(`/json/settings${path}`)).json();
}

/** An expression: all rows of the tree. */
export const rows = "[...document.querySelectorAll('[role=treeitem]')]";

/** An expression: the row of a member or element. */
export function row(name: string): string {
  return `${rows}.find((each) => each.innerText.split(/\\s/)[0] === ${JSON.stringify(name)})`;
}

/** An expression: the editor of the chosen value. */
export const valueEditor = "document.querySelector('.value .cm-content')";

/** Chooses a row, and waits for the text of the value at `place`. */
export async function choose(page: Page, name: string, place: string): Promise<void> {
  await page.until(row(name));
  await page.evaluate(`${row(name)}.click()`);
  const tab = "document.querySelector('.value [role=tab]:last-child')";
  await page.until(
    `document.querySelector('.path').innerText === ${JSON.stringify(place)} && (${valueEditor} ?? ${tab})`,
  );
  // What needs no JSON has a field at first.
  await page.evaluate(`${tab}?.click()`);
  await page.until(valueEditor);
}
