// Checks the types of an app for the browser, builds it with Vite, and serves what was built at an
// origin of its own, so that its requests to a project are those of another origin.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";
import type { Page } from "./browser.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
};

export interface ServedApp {
  /** `http://localhost:<port>`. */
  readonly origin: string;
  close(): void;
}

/** What the compiler says, by the tsconfig.json of the app; empty if nothing. */
export async function typeErrors(app: string): Promise<string> {
  return (await runCommand(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", app])).stdout;
}

export async function buildApp(app: string, built: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const words = ["build", app, "--outDir", built, "--emptyOutDir", "--logLevel", "warn"];
  // Vitest's own environment would make it a build for tests.
  const variables = { ...process.env, NODE_ENV: "production", ...env };
  const done = await runCommand(process.execPath, [vite, ...words], { cwd: root, env: variables });
  if (done.code !== 0 || done.stderr !== "") throw new Error(lastWords(done, 40));
}

export async function serveApp(folder: () => string): Promise<ServedApp> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://localhost");
    const path = pathname === "/" ? "/index.html" : pathname;
    readFile(join(folder(), path)).then(
      (content) => response.setHeader("Content-Type", types[extname(path)] ?? "").end(content),
      // Browsers ask for an icon, whether a page has one or not.
      () => response.writeHead(path === "/favicon.ico" ? 204 : 404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}

/** Replaces what stands in a field, as a person does. */
export async function fill(page: Page, selector: string, text: string): Promise<void> {
  await page.evaluate(
    `{ const field = document.querySelector(${JSON.stringify(selector)}); field.focus(); field.select(); }`,
  );
  if (text === "") await page.evaluate("document.execCommand('delete')");
  else await page.type(text);
}

export const textOf = (selector: string) => `document.querySelector(${JSON.stringify(selector)}).innerText`;

/**
 * Browsers call each answer with an error status a failure, so those are left out whose statuses
 * are meant.
 */
export function complaintsBut(page: Page, ...statuses: readonly number[]): readonly string[] {
  return page.complaints.filter((text) => !statuses.some((status) => text.includes(`a status of ${status} `)));
}
