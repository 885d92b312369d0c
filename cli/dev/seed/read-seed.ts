// Reads the file of a seed: the JSON texts in it, each with where it is in the file.

import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import { type CanonicalJson, canonicalJson } from "../../../core/json/canonical.ts";
import { elementsOf, kindOf, membersOf } from "../../../core/json/members.ts";
import { maxDepth } from "../../../dataplane/store/ports/documents.ts";
import type { SeedFile } from "./find-seed-files.ts";
import { SeedFault } from "./seed-fault.ts";

export interface SeedEntry {
  /** `:12` = line 12, `[3]` = the fourth element. */
  readonly at: string;
  readonly json: CanonicalJson;
}

/** A file that is read as a whole. Larger ones are for lines. */
const maxWholeBytes = 64 * 1024 * 1024;

/** The objects of a resource. Throws SeedFault. */
export async function* objectsIn(file: SeedFile): AsyncIterable<SeedEntry> {
  if (file.isLines) {
    yield* linesOf(file.path);
    return;
  }
  const whole = await valueIn(file);
  if (whole.kind !== "array") {
    throw new SeedFault(
      `${file.path}: must be an array of objects, or have one object a line and be called ${file.name}.ndjson`,
    );
  }
  for (const [index, text] of elementsOf(whole.text).entries()) {
    yield { at: `[${index}]`, json: { text, kind: kindOf(text), depth: whole.depth } };
  }
}

/** The value of a root key. Throws SeedFault. */
export async function valueIn({ path, isLines, name }: SeedFile): Promise<CanonicalJson> {
  if (isLines) throw new SeedFault(`${path}: a root key has one value: call the file ${name}.json`);
  const { size } = await stat(path);
  if (size > maxWholeBytes) {
    throw new SeedFault(
      `${path}: has ${size} bytes, of at most ${maxWholeBytes}: write one object a line, as ${name}.ndjson`,
    );
  }
  return canonical(await readFile(path, "utf8"), path);
}

/** The top-level names of a file that may hold several resources at once, as json-server's `db.json` does. Throws SeedFault. */
export async function namesIn(file: SeedFile): Promise<readonly string[]> {
  if (file.isLines) return [];
  const whole = await valueIn(file);
  return whole.kind === "object" ? membersOf(whole.text).map(({ name }) => name) : [];
}

async function* linesOf(path: string): AsyncIterable<SeedEntry> {
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    if (text.trim() !== "") yield { at: `:${line}`, json: canonical(text, `${path}:${line}`) };
  }
}

function canonical(text: string, where: string): CanonicalJson {
  const result = canonicalJson(text.replace(/^\uFEFF/, ""), maxDepth);
  if (result.ok) return result.json;
  throw new SeedFault(`${where}: ${result.error.detail}`);
}
