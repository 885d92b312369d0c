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

/** The server carries these writes out, and the page gets no answer, until `isLosing` is false. */
export async function loseAnswersTo(page: Page, method: string): Promise<void> {
  await page.evaluate(`{
    Object.assign(globalThis, { keys: [], isLosing: true });
    const real = fetch;
    globalThis.fetch = async (input, init) => {
      const isMeant = init.method === "${method}";
      if (isMeant) keys.push(init.headers["Idempotency-Key"]);
      const response = await real(input, init);
      if (isMeant && isLosing) throw new TypeError("Failed to fetch");
      return response;
    };
  }`);
}

/** Notes the tokens of whoever signs in. */
export async function noteSession(page: Page): Promise<void> {
  await page.evaluate(`{
    const real = fetch;
    globalThis.fetch = async (input, init) => {
      const response = await real(input, init);
      if (input.endsWith("/sessions")) globalThis.session = await response.clone().json();
      return response;
    };
  }`);
}

/** An access token of somebody who has nothing to do with the page. */
export async function signedIn(base: string, name: string, password: string): Promise<string> {
  const login = Buffer.from(`${name}:${password}`).toString("base64");
  const session = await fetch(`${base}/sessions`, { method: "POST", headers: { Authorization: `Basic ${login}` } });
  return ((await session.json()) as { access_token: string }).access_token;
}

export async function tasksTitled(base: string, title: string, token: string) {
  const headers = { Authorization: `bearer ${token}` };
  const list = await fetch(`${base}/api/tasks?title=${encodeURIComponent(title)}`, { headers });
  return ((await list.json()) as { items: readonly Readonly<Record<string, unknown>>[] }).items;
}

export async function deleteTask(base: string, task: { readonly id?: unknown } | undefined, token: string) {
  const headers = { Authorization: `bearer ${token}` };
  const { status } = await fetch(`${base}/api/tasks/${task?.id}`, { method: "DELETE", headers });
  if (status !== 204) throw new Error(`The task is not deleted: ${status}`);
}

/** Ends the page's session at the server. */
export async function endSession(page: Page, base: string): Promise<void> {
  const refreshed = {
    method: "POST",
    headers: { Authorization: `Bearer ${await page.evaluate("session.refresh_token")}` },
  };
  const { access_token } = (await (await fetch(`${base}/sessions/refresh`, refreshed)).json()) as {
    access_token: string;
  };
  await fetch(`${base}/sessions/current`, { method: "DELETE", headers: { Authorization: `bearer ${access_token}` } });
}
