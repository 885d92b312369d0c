// Reports when anything in a folder of manifests changes: by the system's events, debounced, and by
// comparing sizes and times regularly, for file systems without events. Hidden folders and
// node_modules are left out.

import { type FSWatcher, watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { listFiles, seedFolderOf } from "../../manifests/list-files.ts";
import { findSeedFiles } from "../seed/read-seed.ts";

export interface FolderWatch {
  /** Resolves once changes are seen; what was read before it has to be read again. */
  readonly ready: Promise<void>;
  stop(): void;
}

export interface WatchOptions {
  /** Folders, or single files. */
  readonly paths: readonly string[];
  readonly onChange: () => void;
  /** How long to wait for more changes; an editor's save is several. */
  readonly quietMs?: number;
  readonly pollMs?: number;
}

/** Changes that keep coming are reported after this many quiet periods at most. */
const maxQuietPeriods = 5;

export function watchFolders({ paths, onChange, quietMs = 100, pollMs = 2_000 }: WatchOptions): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let stopped = false;
  let quiet: NodeJS.Timeout | undefined;
  let firstTouch: number | undefined;

  const notify = async (): Promise<void> => {
    firstTouch = undefined;
    // Before the folder is read: what is written into a new folder from now on is seen.
    await watchAll();
    if (!stopped) onChange();
  };
  const touched = (): void => {
    if (stopped) return;
    firstTouch ??= performance.now();
    const waited = performance.now() - firstTouch;
    clearTimeout(quiet);
    quiet = setTimeout(() => void notify(), Math.min(quietMs, Math.max(0, maxQuietPeriods * quietMs - waited)));
  };

  async function watchAll(): Promise<void> {
    const wanted = new Set((await Promise.all(paths.map(foldersBelow))).flat());
    if (stopped) return;
    for (const [folder, watcher] of watchers) if (!wanted.has(folder)) forget(folder, watcher);
    for (const folder of wanted) if (!watchers.has(folder)) watchOne(folder);
  }

  /**
   * Without events (some network file systems) the regular comparison finds every change, later.
   */
  function watchOne(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => {
        if (name === null || !name.startsWith(".")) touched();
      });
      watcher.on("error", () => forget(folder, watcher));
      watchers.set(folder, watcher);
    } catch {
      return;
    }
  }

  function forget(folder: string, watcher: FSWatcher): void {
    watcher.close();
    watchers.delete(folder);
  }

  let known: string | undefined;
  const poll = async (): Promise<void> => {
    const seen = (await Promise.all(paths.map(fingerprint))).join("\n");
    if (known !== undefined && seen !== known) touched();
    known = seen;
  };
  const polling = setInterval(() => void poll(), pollMs);
  const ready = watchAll().then(poll);

  return {
    ready,
    stop() {
      stopped = true;
      clearTimeout(quiet);
      clearInterval(polling);
      for (const [folder, watcher] of watchers) forget(folder, watcher);
    },
  };
}

/** The path itself and the folders below it; the path alone when it is a file or can't be read. */
async function foldersBelow(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() && isWatched(entry.name));
    const below = await Promise.all(folders.map(({ name }) => foldersBelow(join(path, name))));
    return [path, ...below.flat()];
  } catch {
    return [path];
  }
}

function isWatched(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules";
}

/**
 * Equal as long as no file was added, removed or written; empty for a folder that can't be read.
 */
async function fingerprint(path: string): Promise<string> {
  try {
    const files = await Promise.all((await listFiles(path)).map(describe));
    return [...files, ...(await seedFiles(path))].join("\n");
  } catch {
    return "";
  }
}

/** Of the seed folder, in which manifests are not searched. */
async function seedFiles(manifests: string): Promise<readonly string[]> {
  try {
    return (await findSeedFiles(await seedFolderOf(manifests))).map(({ path, version }) => `${path} ${version}`);
  } catch {
    return [];
  }
}

async function describe(file: string): Promise<string> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    return `${file} ${size} ${mtimeMs} ${ino}`;
  } catch {
    // It was removed since the folder was read: the next comparison sees that.
    return file;
  }
}
