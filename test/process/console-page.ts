// What the tests of the console share: signing in, finding buttons and editors by what a person sees, and what axe finds on the page.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../core/clock.ts";
import type { ProjectParts } from "../../core/config/types.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { apikey } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { type Browser, type Page, type PageOptions, startBrowser } from "./browser.ts";

export const pictures = fileURLToPath(new URL("../../out/console/", import.meta.url));
export const wide: PageOptions = { width: 1280, height: 900, scheme: "light" };
export const screens: readonly PageOptions[] = [
  wide,
  { ...wide, scheme: "dark" },
  { width: 375, height: 800, scheme: "light" },
  { width: 375, height: 800, scheme: "dark" },
];

export interface StartedConsole {
  readonly browser: Browser;
  readonly served: Served;
  stop(): Promise<void>;
}

/** Serves the project, and starts a browser. */
export async function startConsole(parts: ProjectParts): Promise<StartedConsole> {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const served = await serveFrom(store, [parts], { publicUrl: "" });
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

/** The page once a person has signed in there and it has a heading. */
export async function openConsole(visit: ConsoleVisit): Promise<Page> {
  const { browser, served, fragment, as = "staff", options = wide } = visit;
  const page = await browser.open(options);
  await page.goto(`${served.origin}${served.base}/console#${fragment}`);
  await page.until("document.querySelector('#key')");
  await page.evaluate("document.querySelector('#key').focus()");
  await page.type(apikey(as).slice("apikey ".length));
  await page.press("Enter");
  await page.until("document.querySelector('main:not(#gate) h1')");
  return page;
}

/** Without the first request, before anybody has signed in, and others that are expected to be refused. */
export function complaintsOf(page: Page, expected?: RegExp): readonly string[] {
  return page.complaints.filter((text) => !/401 .*console\/openapi\.json/.test(text) && !expected?.test(text));
}

/** An expression: the visible button, or summary, with this text. */
export function named(text: string): string {
  const all = "[...document.querySelectorAll('button, summary')]";
  return `${all}.find((each) => each.innerText === ${JSON.stringify(text)} && each.checkVisibility())`;
}

/** An expression: whether a person can read the text. */
export function shows(text: string): string {
  return `document.querySelector('main').innerText.includes(${JSON.stringify(text)})`;
}

/** An expression: the text of what has the focus. */
export const focused = "document.activeElement.innerText";

/** Replaces all of an editor's text. `editor` = an expression. */
export async function enter(page: Page, text: string, editor: string): Promise<void> {
  await page.evaluate(`${editor}.focus()`);
  await page.press("a", "Control");
  await page.type(text);
  await page.until(`${editor}.innerText === ${JSON.stringify(text)}`);
}

/** What axe finds, of whatever weight. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const axe = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
  await page.evaluate(`${axe}; undefined`);
  return await page.evaluate(`axe.run().then(({ violations }) => violations
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html + failureSummary).join("; ")))`);
}
