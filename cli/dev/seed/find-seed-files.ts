// Finds the files of a seed, and says which resource or root key each is for: `books.ndjson`, or as in the URL, `api/books.json` and
// `json/flags.json`, below `<namespace>/<project>/` where there are several Projects.

import { readdir, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import type { ProjectRef } from "../../../core/config/types.ts";
import { SeedFault } from "./seed-fault.ts";

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
/** More files than this are probably not a seed, but a whole disk. */
const maxFiles = 1_000;
/** `<namespace>/<project>/api/<file>`. */
const maxFolders = 3;

/** A folder, or one file. Throws SeedFault for too many files; rejects as node:fs does where there is nothing. */
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

/** Undefined of what has another name than a seed, such as a note for people. */
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
