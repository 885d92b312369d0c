// The trace that docs/ARCHITECTURE.md shows names files and functions of today; whether they are
// the ones that run, test/process/trace.test.ts says.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../tools/read-crds.ts";
import { readShown } from "../trace/page.ts";

it("what `npm run trace -- --write` wrote names files and functions that are there", async () => {
  const files = filesIn(await readShown());
  const missing: string[] = [];
  for (const { path, functions } of files) {
    const code = await readFile(join(root, path), "utf8").catch(() => "");
    missing.push(...functions.filter((name) => !isNamedIn(code, name)).map((name) => `${path}: ${name}`));
  }
  expect(files.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});

interface ShownFile {
  readonly path: string;
  readonly functions: readonly string[];
}

/**
 * Lines of a trace: a room or blanks, then `file.ts: function, other ×2`; or blanks, then further
 * functions.
 */
function filesIn(text: string): readonly ShownFile[] {
  const files: { path: string; functions: string[] }[] = [];
  let room = "";
  for (const line of text.split("\n").filter((each) => each.startsWith("  "))) {
    const [, named, file, rest = line] = /^ {2}(\S*) +(\S+\.ts): (.*)$/.exec(line) ?? [];
    if (named) room = named;
    if (file !== undefined) files.push({ path: `${room}/${file}`, functions: [] });
    const functions = rest.split(",").map((name) => name.trim().replace(/ ×\d+$/, ""));
    files.at(-1)?.functions.push(...functions.filter((name) => name !== ""));
  }
  return files;
}

/**
 * V8 names a function without a name by what it is assigned to, as in `look.then.kind`, and what it
 * makes itself in brackets.
 */
function isNamedIn(code: string, name: string): boolean {
  const last = name.slice(name.lastIndexOf(".") + 1);
  if (/^[<(]/.test(last)) return code !== "";
  return new RegExp(`(?<![\\w$#])${last.replaceAll("$", "\\$")}(?![\\w$])`).test(code);
}
