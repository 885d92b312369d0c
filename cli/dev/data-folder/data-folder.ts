// Opens the folder where dev mode keeps stored data, generated Secrets and accepted manifests. It
// is created when missing, closed to other users, ignored by git, locked by one process at a time
// and bound to one folder of manifests. Refuses with what to do.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartRefused } from "../../start-refused.ts";
import { readText, writeAtomically } from "./files.ts";
import { type TrackedFiles, trackFiles } from "./tracked-files.ts";

export interface DataFolder {
  /** As given, for messages. */
  readonly path: string;
  /** Nothing was served from it yet. */
  readonly isNew: boolean;
  readonly file: (name: string) => string;
  readonly tracked: TrackedFiles;
  /** Says where it is served, for another process that finds it in use. */
  noteUrl(url: string): Promise<void>;
  close(): void;
}

/** SQLite's code for "somebody else holds the lock". */
const busy = 5;

export async function openDataFolder(path: string, manifests: string): Promise<DataFolder> {
  if (isReadAsManifests(path, manifests)) {
    throw new StartRefused(
      `The data folder ${path} lies among the manifests in ${manifests}: choose another with --data`,
    );
  }
  const file = (name: string): string => join(path, name);
  try {
    await makeFolder(resolve(path));
    // What lies here are secrets and data: `git add .` must not pick them up.
    await writeFile(file(".gitignore"), "*\n", { mode: 0o600 });
  } catch (cause) {
    throw new StartRefused(`The data folder ${path} can't be used (${reasonOf(cause)}): choose another with --data`, {
      cause,
    });
  }
  const lock = await takeLock(path, file);
  const isNew = !existsSync(file("objects.json"));
  const noteHolder = (text: string) => writeFile(file("pid"), `${text}\n`, { mode: 0o600 });
  try {
    await bind(path, manifests);
    await noteHolder(`${process.pid}`);
  } catch (error) {
    lock.close();
    throw error;
  }
  const tracked = trackFiles(path);
  tracked.track(file("lock.db"));
  const noteUrl = (url: string) => noteHolder(`${process.pid}, ${url}`);
  return { path, isNew, file, tracked, noteUrl, close: () => lock.close() };
}

/**
 * With its parents. Node's own option never returns below a folder that takes none, such as /proc.
 */
async function makeFolder(path: string): Promise<void> {
  const make = () => mkdir(path, { mode: 0o700 });
  try {
    await make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await make();
  }
}

/** Secrets that are generated there would count as manifests; hidden folders are not read. */
function isReadAsManifests(path: string, manifests: string): boolean {
  const parts = relative(resolve(manifests), resolve(path)).split(sep);
  return parts[0] !== ".." && !parts.some((part) => part.startsWith(".") || part === "node_modules");
}

/** The system releases a SQLite lock however the process ends, unlike a file with a process id. */
async function takeLock(path: string, file: (name: string) => string): Promise<DatabaseSync> {
  await writeFile(file("lock.db"), "", { flag: "a", mode: 0o600 });
  const database = new DatabaseSync(file("lock.db"), { timeout: 0 });
  try {
    // Without a journal file: SQLite would remove it by its name at the end, even from another
    // folder.
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database.close();
    if (!isBusy(cause)) throw cause;
    const who = await holderOf(path);
    throw new StartRefused(`${who} uses the data folder ${path}: stop it, or choose another folder with --data`, {
      cause,
    });
  }
}

function isBusy(error: unknown): boolean {
  return (error as { readonly errcode?: number }).errcode === busy;
}

async function holderOf(path: string): Promise<string> {
  const holder = await readText(join(path, "pid"));
  return holder === undefined ? "another jsonplane" : `another jsonplane (process ${holder.trim()})`;
}

/** The process that uses a data folder, for messages; undefined when none does. */
export async function userOf(path: string): Promise<string | undefined> {
  const lock = join(path, "lock.db");
  if (!existsSync(lock)) return undefined;
  const database = new DatabaseSync(lock, { readOnly: true, timeout: 0 });
  try {
    database.prepare("PRAGMA schema_version").get();
    return undefined;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return await holderOf(path);
  } finally {
    database.close();
  }
}

/** Serving other manifests would withdraw everything that these data belong to. */
async function bind(path: string, manifests: string): Promise<void> {
  const file = bindingFile(path);
  const here = pathFrom(path, manifests);
  const bound = await readBinding(path);
  if (bound === undefined) return await writeAtomically(file, `${here}\n`);
  if (bound === here) return;
  const there = relative(process.cwd(), resolve(path, bound)) || ".";
  throw new StartRefused(
    `The data folder ${path} belongs to the manifests in ${there}: remove it to start over, choose another with --data, or, if the manifests have moved, remove ${file}`,
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function bindingFile(folder: string): string {
  return join(folder, "serves");
}

/** What leads from a data folder to its manifests. */
function pathFrom(folder: string, manifests: string): string {
  return relative(resolve(folder), resolve(manifests)) || ".";
}

/** Undefined when the folder belongs to no manifests, or isn't there. */
async function readBinding(folder: string): Promise<string | undefined> {
  return (await readText(bindingFile(folder)))?.trim();
}

const parent = ".jsonplane";
const maxNameCharacters = 40;

export function chooseDataFolder(manifests: string): string {
  return join(parent, dataFolderName(manifests));
}

/** Other folders with data of the same manifests, in DIR or in a folder above it. */
export async function otherDataFolders(manifests: string, used: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let above = resolve(manifests); ; above = dirname(above)) {
    const own = join(above, parent);
    for (const folder of [own, ...(await foldersIn(own))]) {
      if (folder !== resolve(used) && (await hasDataOf(folder, manifests))) found.push(relative("", folder));
    }
    if (above === dirname(above)) return found;
  }
}

/** None where it can't be read. */
async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

async function hasDataOf(folder: string, manifests: string): Promise<boolean> {
  if (!existsSync(join(folder, "objects.json"))) return false;
  return (await readBinding(folder).catch(() => undefined)) === pathFrom(folder, manifests);
}

/**
 * The name is for people, and the hash distinguishes folders of one name. It is made from the
 * relative path, so that data are found when everything is moved together.
 */
function dataFolderName(manifests: string): string {
  const hash = createHash("sha256").update(pathFrom(parent, manifests)).digest("hex").slice(0, 8);
  const plain = basename(resolve(manifests)).replaceAll(/[^\p{L}\p{N}._-]+/gu, "-");
  return `${[...plain].slice(0, maxNameCharacters).join("")}-${hash}`;
}
