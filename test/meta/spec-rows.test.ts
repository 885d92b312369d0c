// Rows of docs/spec-rows.yaml name tests that there are: a test that was renamed is told of at
// once, not by the next whole run.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readRows } from "../../tools/spec/read-rows.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** What Vitest and JavaScript put something else in place of. */
const placeholder = /%[sdifjo#$]|%%|\$\{[^}]*\}|\$[a-zA-Z][\w.]*/g;

/**
 * What a text in the source may become as a title; undefined for one that would become anything.
 */
function patternOf(literal: string): RegExp | undefined {
  const parts = literal.split(placeholder);
  if (parts.every((part) => part.trim() === "")) return undefined;
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join(".*")}$`, "s");
}

function literalsIn(source: string): readonly string[] {
  const found = source.matchAll(/"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g);
  return [...found].map(([, double, single, template]) =>
    (double ?? single ?? template ?? "").replace(/\\(.)/gs, "$1"),
  );
}

/** Empty where there is none: a program that a test writes may import what is not here. */
const read = (file: string) => readFile(join(root, file), "utf8").catch(() => "");

/**
 * Of a test's file and of what it imports of the tests: contracts of stores are written once,
 * next to the files that run them.
 */
async function sourcesOf(file: string, seen = new Set<string>()): Promise<readonly string[]> {
  if (seen.has(file) || !file.startsWith("test/")) return [];
  seen.add(file);
  const source = await read(file);
  const imported = [...source.matchAll(/from "(\.[^"]+\.ts)"/g)].map(([, path = ""]) => join(file, "..", path));
  const others = await Promise.all(imported.map((path) => sourcesOf(path, seen)));
  return [source, ...others.flat()];
}

async function titlesOf(file: string): Promise<(title: string) => boolean> {
  const literals = (await sourcesOf(file)).flatMap(literalsIn);
  // %j shows a case as JSON.
  const known = new Set(literals.flatMap((literal) => [literal, JSON.stringify(literal)]));
  const patterns = literals.map(patternOf);
  return (title) => known.has(title) || patterns.some((pattern) => pattern?.test(title));
}

it("every test that a row names stands in its file", async () => {
  const { rows } = await readRows(root);
  const named = [...new Set(rows.flatMap(({ tests }) => tests))];
  const files = [...new Set(named.map((test) => test.split(" › ")[0] ?? ""))];
  const known = new Map(await Promise.all(files.map(async (file) => [file, await titlesOf(file)] as const)));
  expect(named.length).toBeGreaterThan(100);
  const missing = named.filter((test) => {
    const [file = "", ...titles] = test.split(" › ");
    const title = titles.at(-1) ?? "";
    return known.get(file)?.(title) !== true;
  });
  expect(missing).toEqual([]);
});
