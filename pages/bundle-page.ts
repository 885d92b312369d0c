// Makes the files of a page: one script of its modules and packages, one style sheet, its HTML. A
// build writes what this returns, with the licences of the packages; in a clone the data plane uses
// it directly. Needs the development dependencies.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Fastify from "fastify";

/** `reference`: `/docs`; `console`: `/console`; `overview`: `/` of dev mode. */
export type PageName = "reference" | "console" | "overview";
export const pageNames: readonly PageName[] = ["reference", "console", "overview"];

/** By name: `page.html`, and the files that it names. */
export type PageFiles = ReadonlyMap<string, Buffer>;

/** A file, or the rules of one for what is inside of these elements (CSS nesting). */
type StyleSheet = string | { readonly within: string; readonly file: string };

/** In the order in which they go into the page's style sheet; later ones win. */
const styleSheets: Readonly<Record<PageName, readonly StyleSheet[]>> = {
  // The viewer's buttons and links are its own.
  reference: ["look.css", { within: ".bar, #gate", file: "controls.css" }, "sign-in/gate.css", "reference/page.css"],
  console: [
    "look.css",
    "controls.css",
    "sign-in/gate.css",
    "console/page.css",
    "console/confirm.css",
    "console/objects/objects.css",
    "console/form/form.css",
    "console/editor/editor.css",
    "console/root-key/root-key.css",
    "console/stored/conflict.css",
  ],
  overview: ["look.css", "controls.css", "overview/page.css"],
};

const viewerPackage = "@scalar/fastify-api-reference";
const folder = fileURLToPath(new URL(".", import.meta.url));

export interface BundledPage {
  readonly files: PageFiles;
  /** Folders of the packages of which it contains code. */
  readonly packages: readonly string[];
}

export async function bundlePage(page: PageName): Promise<BundledPage> {
  const [html, script, rules] = await Promise.all([
    readFile(join(folder, page, "page.html")),
    bundledScript(page),
    Promise.all(styleSheets[page].map(styles)),
  ]);
  const files = new Map([
    ["page.html", html],
    ["page.css", Buffer.from(rules.join(""))],
    ...(page === "reference" ? [["viewer.js", await viewerScript()] as const] : []),
    ["page.js", Buffer.from(script.code)],
  ]);
  return { files, packages: packagesOf(page, script) };
}

async function styles(sheet: StyleSheet): Promise<string> {
  if (typeof sheet === "string") return await readFile(join(folder, sheet), "utf8");
  return `${sheet.within} {\n${await readFile(join(folder, sheet.file), "utf8")}}\n`;
}

/** As BundledPage has them, without its files. */
export async function bundledPackages(page: PageName): Promise<readonly string[]> {
  return packagesOf(page, await bundledScript(page));
}

function packagesOf(page: PageName, { packages }: BundledScript): readonly string[] {
  return page === "reference"
    ? [...packages, ...packageOf(fileURLToPath(import.meta.resolve(viewerPackage)))]
    : packages;
}

/** The texts of the licences of these packages. */
export async function licencesOf(packages: BundledPage["packages"]): Promise<string> {
  const texts = await Promise.all(
    packages.map(async (path) => {
      const { name, version } = JSON.parse(await readFile(join(path, "package.json"), "utf8")) as Readonly<
        Record<string, string>
      >;
      return `${name} ${version}\n\n${await readFile(join(path, "LICENSE"), "utf8")}`;
    }),
  );
  return texts.join("\n\n---\n\n");
}

interface BundledScript {
  readonly code: string;
  /** Folders of the packages that are part of it. */
  readonly packages: readonly string[];
}

async function bundledScript(page: PageName): Promise<BundledScript> {
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    input: join(folder, page, "page.tsx"),
    platform: "browser",
    tsconfig: join(folder, "tsconfig.json"),
    transform: { target: "es2022", define: { "process.env.NODE_ENV": '"production"' } },
  });
  try {
    const { output } = await build.generate({ format: "iife", minify: true, codeSplitting: false });
    const [{ code, moduleIds }] = output;
    return { code, packages: [...new Set(moduleIds.flatMap(packageOf))].sort() };
  } finally {
    await build.close();
  }
}

/** The script that shows an OpenAPI document: Scalar's, from its package for fastify. */
async function viewerScript(): Promise<Buffer> {
  const { default: plugin } = await import("@scalar/fastify-api-reference");
  const app = Fastify();
  await app.register(plugin, { routePrefix: "/reference", configuration: { content: { openapi: "3.1.0" } } });
  const { statusCode, rawPayload } = await app.inject("/reference/js/scalar.js");
  await app.close();
  if (statusCode !== 200) throw new Error("The viewer's package does not serve its script");
  return rawPayload;
}

/** The folder of the package that a module belongs to; none for our own. */
function packageOf(module: string): readonly string[] {
  const [, found] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module) ?? [];
  return found === undefined ? [] : [found];
}
