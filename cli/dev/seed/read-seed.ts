// Reads the file of a seed: the JSON texts in it, each with where it is in the file.

import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { createInterface } from "node:readline";
import type { ProjectRef } from "../../../core/config/types.ts";
import { type CanonicalJson, canonicalJson } from "../../../core/json/canonical.ts";
import { elementsOf, kindOf, membersOf } from "../../../core/json/members.ts";
import { maxDepth } from "../../../dataplane/store/ports/documents.ts";

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

/** The top-level names of a file with several resources, as `db.json`. Throws SeedFault. */
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

export interface SeedFile {
  readonly path: string;
  /** Absent = the only one. */
  readonly project?: ProjectRef;
  /** Absent = whichever has a resource or a root key of the name. */
  readonly kind?: "api" | "json";
  /** Of the resource or root key. */
  readonly name: string;
  /** One JSON text per line, and not one for the whole file. */
  readonly isLines: boolean;
  /** Another one when the file is written. */
  readonly version: string;
}

const extension = /\.(json|ndjson|jsonl)$/;
/** More files than this are probably a disk rather than a seed. */
const maxFiles = 1_000;
/** `<namespace>/<project>/api/<file>`. */
const maxFolders = 3;

/** A folder or one file. Throws SeedFault for too many files; rejects when nothing is there. */
export async function findSeedFiles(path: string): Promise<readonly SeedFile[]> {
  const isFolder = (await stat(path)).isDirectory();
  const paths: string[] = [];
  if (isFolder) await addFilesBelow(path, maxFolders, paths);
  else paths.push(path);
  if (paths.length > maxFiles) throw new SeedFault(`${path} has more than ${maxFiles} files`);
  const found: SeedFile[] = [];
  for (const file of paths.sort()) {
    const named = seedFileOf(file, isFolder ? relative(path, file).split(sep) : [basename(file)]);
    if (named !== undefined) found.push({ ...named, version: await versionOf(file) });
  }
  return found;
}

/** Up to one more than the limit. */
async function addFilesBelow(folder: string, folders: number, paths: string[]): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (paths.length > maxFiles) return;
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isFile()) paths.push(path);
    else if (entry.isDirectory() && folders > 0) await addFilesBelow(path, folders - 1, paths);
  }
}

async function versionOf(file: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(file);
  return `${mtimeMs} ${size} ${ino}`;
}

/** Undefined for files that are no seed by their name. */
function seedFileOf(path: string, parts: readonly string[]): Omit<SeedFile, "version"> | undefined {
  const file = parts.at(-1) ?? "";
  const suffix = extension.exec(file)?.[1];
  if (suffix === undefined) return undefined;
  const folders = parts.slice(0, -1);
  const last = folders.at(-1);
  const hasKind = folders.length % 2 === 1 && (last === "api" || last === "json");
  const [namespace, name, ...more] = hasKind ? folders.slice(0, -1) : folders;
  if (more.length > 0 || (namespace !== undefined && name === undefined)) return undefined;
  return {
    path,
    ...(namespace !== undefined && name !== undefined && { project: { namespace, name } }),
    ...(hasKind && { kind: last }),
    name: file.slice(0, -suffix.length - 1),
    isLines: suffix !== "json",
  };
}

/** What is wrong with a seed, and where: a sentence for the terminal. */
export class SeedFault extends Error {
  override readonly name = "SeedFault";
}
