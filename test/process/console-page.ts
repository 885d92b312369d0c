// What the tests of the console share: signing in, finding buttons and editors by what a person
// sees, and what axe finds on the page.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../core/clock.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { apikey } from "../support/http/projects.ts";
import { type Served, type ServeOptions, serveFrom } from "../support/http/served.ts";
import { type Browser, type Page, type PageOptions, startBrowser } from "./browser.ts";

export const pictures = fileURLToPath(new URL("../../out/console/", import.meta.url));
export const wide: PageOptions = { width: 1280, height: 900, scheme: "light" };
export const screens: readonly PageOptions[] = [
  wide,
  { ...wide, scheme: "dark" },
  { width: 375, height: 800, scheme: "light" },
  { width: 375, height: 800, scheme: "dark" },
];

/** Of the schema of books: fields with and without an index, and a list. */
export const bookProperties = {
  title: { type: "string", minLength: 1 },
  price: { type: "number", exclusiveMinimum: 0, description: "Without tax, in the currency of the shop." },
  isbn: { type: "integer" },
  tags: { type: "array", items: { type: "string" } },
  cover: { enum: ["hard", "soft"] },
};

export interface StartedConsole {
  readonly browser: Browser;
  readonly served: Served;
  stop(): Promise<void>;
}

/** Serves the project, and starts a browser. */
export async function startConsole(parts: CompiledProject, options: ServeOptions = {}): Promise<StartedConsole> {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const served = await serveFrom(store, [parts], { publicUrl: "", ...options });
  const browser = await startBrowser();
  return {
    browser,
    served,
    async stop() {
      await browser.stop();
      await served.plane.close();
      await store.close();
    },
  };
}

export interface ConsoleVisit extends Pick<StartedConsole, "browser" | "served"> {
  /** The page's fragment, from its slash on. */
  readonly fragment: string;
  /** Name of the API key. */
  readonly as?: string;
  readonly options?: PageOptions;
}

/** The page with the form by which a person signs in. */
export async function visitConsole({ browser, served, fragment, options = wide }: ConsoleVisit): Promise<Page> {
  const page = await browser.open(options);
  await page.goto(`${served.origin}${served.base}/console#${fragment}`);
  await page.until("document.querySelector('#gate')");
  return page;
}

/** The form puts the focus into its first field: what was typed before goes there. */
const isGateReady = "document.querySelector('#gate')?.contains(document.activeElement)";

export async function enterKey(page: Page, key: string): Promise<void> {
  await page.until(isGateReady);
  await askForKey(page);
  await fill(page, "#key", key);
  await page.press("Enter");
}

export async function signInWithKey(page: Page, as: string): Promise<void> {
  await enterKey(page, apikey(as).slice("apikey ".length));
  await page.until("document.querySelector('#gate') === null && document.querySelector('main h1')?.checkVisibility()");
}

/** The form asks for a name and a password at first. */
export async function askForKey(page: Page): Promise<void> {
  await page.evaluate("document.querySelector('#with-key') ?? document.querySelector('#other-way').click()");
  await page.until("document.activeElement.id === 'key'");
}

export async function signInWithPassword(page: Page, name: string, password: string): Promise<void> {
  await page.until(isGateReady);
  // The name of somebody else may be there.
  await page.evaluate("document.querySelector('#username').select()");
  await page.type(name);
  await fill(page, "#password", password);
  await page.press("Enter");
}

/** The page once a person has signed in there and it has a heading. */
export async function openConsole(visit: ConsoleVisit): Promise<Page> {
  const page = await visitConsole(visit);
  await signInWithKey(page, visit.as ?? "staff");
  return page;
}

/**
 * Without the first request, before anybody has signed in, and others that are expected to be
 * refused.
 */
export function complaintsOf(page: Page, expected?: RegExp): readonly string[] {
  return page.complaints.filter((text) => !/401 .*console\/openapi\.json/.test(text) && !expected?.test(text));
}

/** An expression: the visible button, summary, or link that looks like a button, with this text. */
export function named(text: string): string {
  const all = "[...document.querySelectorAll('button, summary, a.button')]";
  return `${all}.find((each) => each.innerText === ${JSON.stringify(text)} && each.checkVisibility())`;
}

/** Leads from the form of an object to its text in the editor. */
export async function showJson(page: Page): Promise<void> {
  await click(page, "JSON");
  await page.until(objectEditor);
}

/** Clicks it as soon as it does something. */
export async function click(page: Page, text: string): Promise<void> {
  await page.until(`${named(text)} !== undefined && ${named(text)}.ariaDisabled !== "true"`);
  await page.evaluate(`${named(text)}.focus(); ${named(text)}.click()`);
}

/** An expression: whether a person can read the text. */
export function shows(text: string): string {
  return `document.querySelector('main:not(#gate)').innerText.includes(${JSON.stringify(text)})`;
}

/** An expression: the texts of the boxes that say what was refused. */
export const faults = "[...document.querySelectorAll('.fault')].map((each) => each.innerText).filter(Boolean)";

/** An expression: the editor of an object, or of a new one. */
export const objectEditor = "document.querySelector('main .cm-content')";

/** An expression: how many pixels of the page are next to the window. */
export const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** An expression: the text of what has the focus. */
export const focused = "document.activeElement.innerText";

/** Replaces all of an editor's text. `editor` = an expression. */
export async function enter(page: Page, text: string, editor: string): Promise<void> {
  await page.evaluate(`${editor}.focus()`);
  await page.press("a", "Control");
  await page.type(text);
  await page.until(`${editor}.innerText === ${JSON.stringify(text)}`);
}

/** Types into an empty field. */
export async function fill(page: Page, selector: string, text: string): Promise<void> {
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`);
  await page.type(text);
}

/**
 * Lets answers to requests with this method wait: `held` = an expression of their number, `release`
 * lets them come.
 */
export async function holdAnswers(
  page: Page,
  method: string,
): Promise<{ readonly held: string; release(): Promise<void> }> {
  await page.evaluate(`void ((real) => {
    const { promise, resolve } = Promise.withResolvers();
    globalThis.held = 0;
    globalThis.release = () => { globalThis.fetch = real; resolve(); };
    globalThis.fetch = async (request) => {
      const answer = await real(request);
      if (request.method === ${JSON.stringify(method)}) { globalThis.held += 1; await promise; }
      return answer;
    };
  })(fetch)`);
  return { held: "held", release: () => page.evaluate("release()") };
}

/** What axe finds, of whatever weight. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const axe = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
  await page.evaluate(`${axe}; undefined`);
  return await page.evaluate(`axe.run().then(({ violations }) => violations
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html + failureSummary).join("; ")))`);
}
