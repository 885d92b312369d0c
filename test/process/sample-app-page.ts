// The sample app as its page: what the tests look at, and what they do there as a person would.

import type { Page } from "./browser.ts";
import { textOf } from "./built-app.ts";

export const titles = "[...document.querySelectorAll('#rows [data-part=title]')].map((each) => each.innerText)";
export const row = (title: string) =>
  `[...document.querySelectorAll('#rows tr')].find((row) => row.innerText.includes(${JSON.stringify(title)}))`;
export const part = (title: string, name: string) => `${row(title)}?.querySelector('[data-part=${name}]')`;
export const message = textOf("#message");
export const alert = textOf("#task-form [role=alert]");
export const isOpen = (id: string) => `document.querySelector('#${id}').open`;
export const click = (page: Page, selector: string) =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);

export async function sortBy(page: Page, order: string): Promise<void> {
  await page.evaluate(
    `{ const order = document.querySelector('#order'); order.value = '${order}'; order.dispatchEvent(new Event('change')); }`,
  );
}

export async function edit(page: Page, title: string): Promise<void> {
  await page.evaluate(`${part(title, "edit")}.click()`);
  await page.until(isOpen("task"));
}

/**
 * The server carries requests of this method out, and the page gets no answer, until `isLosing` is
 * false.
 */
export async function loseAnswersTo(page: Page, method: string): Promise<void> {
  await page.evaluate(`void ([globalThis.keys, globalThis.isLosing, globalThis.kept] = [[], true, fetch], globalThis.fetch = async (input, init) => {
    const isMeant = input.method === "${method}";
    if (isMeant) keys.push(input.headers.get("Idempotency-Key"));
    const response = await kept(input, init);
    if (isMeant && isLosing) throw new TypeError("Failed to fetch");
    return response;
  })`);
}

/** Ends the page's session at the server, by the token of its next request. */
export async function endSession(page: Page, base: string): Promise<void> {
  await page.evaluate(`void (globalThis.plain ??= fetch, globalThis.authorization = null, globalThis.fetch = async (input, init) => {
    const response = await plain(input, init);
    globalThis.authorization ??= input.headers?.get("Authorization");
    return response;
  })`);
  await sortBy(page, "title");
  // A request that is still under way would be the first to find the session ended.
  await page.until("globalThis.authorization");
  const headers = { Authorization: await page.evaluate<string>("globalThis.authorization") };
  await fetch(`${base}/sessions/current`, { method: "DELETE", headers });
}
