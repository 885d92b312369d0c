// Reads the repository's own source files from a folder into memory: path, text, and what each
// TypeScript file imports. Refuses nothing; rules check what it gathered.

import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type Import, importsOf } from "./imports-of.ts";

export interface Source {
  /** From the root, with slashes: `dataplane/store/port.ts`. */
  readonly path: string;
  readonly text: string;
  /** Without the last line's end. */
  readonly lines: readonly string[];
  readonly imports: readonly Import[];
}

const ignored: ReadonlySet<string> = new Set(["node_modules", "dist", "coverage", "test-results", "data"]);
const kinds = /\.(tsx?|lua|sh)$/;
/** Shell programs without an ending. */
const programs: ReadonlySet<string> = new Set(["bin/jsonplane", ".ci/run"]);

export async function readSources(root: string): Promise<readonly Source[]> {
  const entries = await readdir(root, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && isOurs(entry.name)).map((entry) => entry.name);
  const paths: string[] = entries
    .filter((entry) => entry.isFile() && kinds.test(entry.name))
    .map((entry) => entry.name);
  for (const folder of folders) paths.push(...(await filesBelow(root, folder)));
  const wanted = paths.filter((path) => kinds.test(path) || programs.has(path)).sort();
  return Promise.all(wanted.map((path) => readSource(root, path)));
}

function isOurs(folder: string): boolean {
  return !ignored.has(folder) && (!folder.startsWith(".") || folder === ".ci");
}

async function filesBelow(root: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile());
  return files
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => path.split("/").every((part) => !ignored.has(part)));
}

async function readSource(root: string, path: string): Promise<Source> {
  const text = await readFile(join(root, path), "utf8");
  const lines = text.replace(/\n$/, "").split("\n");
  return { path, text, lines, imports: /\.tsx?$/.test(path) ? importsOf(path, text) : [] };
}
