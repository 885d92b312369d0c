// Finds the files of a seed, and says which resource or root key each is for: `books.ndjson`, or as in the URL, `api/books.json` and
// `json/flags.json`, below `<namespace>/<project>/` where there are several Projects.

import { readdir, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import type { ProjectRef } from "../../../core/config/types.ts";

export interface SeedFile {
  readonly path: string;
  /** Absent = the only one. */
  readonly project?: ProjectRef;
  /** Absent = whichever has a resource or a root key of the name. */
  readonly kind?: "api" | "json";
  /** Of the resource or root key. */
  readonly name: string;
  /** One JSON text a line, and not one for the whole file. */
  readonly isLines: boolean;
  /** Another one when the file is written. */
  readonly version: string;
}

const extension = /\.(json|ndjson|jsonl)$/;
/** A folder of seeds that is none: somebody's whole disk. */
const maxFiles = 10_000;

/** A folder, or one file. Rejects as node:fs does where there is nothing. */
export async function findSeedFiles(path: string): Promise<readonly SeedFile[]> {
  const isFolder = (await stat(path)).isDirectory();
  const paths = isFolder ? await filesBelow(path) : [path];
  const found: SeedFile[] = [];
  for (const file of paths.slice(0, maxFiles)) {
    const named = seedFileOf(file, isFolder ? relative(path, file).split(sep) : [basename(file)]);
    if (named !== undefined) found.push({ ...named, version: await versionOf(file) });
  }
  return found;
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.sort();
}

async function versionOf(file: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(file);
  return `${mtimeMs} ${size} ${ino}`;
}

/** Undefined of what has another name than a seed, such as a note for people. */
function seedFileOf(path: string, parts: readonly string[]): Omit<SeedFile, "version"> | undefined {
  const file = parts.at(-1) ?? "";
  const suffix = extension.exec(file)?.[1];
  if (suffix === undefined || parts.some((part) => part.startsWith("."))) return undefined;
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
