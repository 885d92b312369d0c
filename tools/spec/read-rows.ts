// Reads docs/spec-rows.yaml: the promises of the interface and the tests that prove them. Refuses
// unknown members, doubled ids and references that aren't `<file> › <test>`.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

export interface SpecRow {
  readonly id: string;
  readonly says: string;
  /** `<file> › <suite> › <test>`; empty when nothing proves it yet. */
  readonly tests: readonly string[];
  /** What has to be built first; such a row is open, and fails nothing. */
  readonly waits: string | undefined;
}

export interface SpecRows {
  /** A full run fails while a row is unproved. */
  readonly enforce: boolean;
  readonly rows: readonly SpecRow[];
}

const rowsFile = "docs/spec-rows.yaml";

export async function readRows(root: string): Promise<SpecRows> {
  return rowsOf(await readFile(join(root, rowsFile), "utf8"));
}

export function rowsOf(text: string): SpecRows {
  const { enforce, rows } = parse(text) as { enforce?: unknown; rows?: unknown };
  if (typeof enforce !== "boolean" || !Array.isArray(rows)) throw new Error(`${rowsFile} needs enforce and rows`);
  const read = rows.map(rowOf);
  const ids = read.map((row) => row.id);
  const doubled = ids.find((id, index) => ids.indexOf(id) !== index);
  if (doubled !== undefined) throw new Error(`${rowsFile} has two rows ${doubled}`);
  return { enforce, rows: read };
}

function rowOf(row: Readonly<Record<string, unknown>>): SpecRow {
  const { id, says, test, waits, ...others } = row;
  const strange = Object.keys(others)[0];
  if (strange !== undefined) throw new Error(`${rowsFile}: row ${id} has a member ${strange}`);
  if (typeof id !== "string" || typeof says !== "string") throw new Error(`${rowsFile}: a row needs an id and says`);
  const tests = testsOf(id, test);
  if (waits === undefined) return { id, says, tests, waits };
  if (typeof waits !== "string" || tests.length > 0)
    throw new Error(`${rowsFile}: row ${id} has a test or waits for something`);
  return { id, says, tests, waits };
}

function testsOf(id: string, test: unknown): readonly string[] {
  if (test === null) return [];
  return (Array.isArray(test) ? test : [test]).map((name: unknown) => {
    if (typeof name === "string" && /^test\/\S+\.test\.ts › ./.test(name)) return name;
    throw new Error(`${rowsFile}: row ${id} names ${name}, not "<file> › <test>"`);
  });
}
