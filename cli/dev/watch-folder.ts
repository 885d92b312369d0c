// Tells when anything in a folder changes: by the system's events, gathered for a moment, and by looking at sizes and times
// now and then, for file systems that send none. It never says what has changed.

import { watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

export interface FolderWatch {
  stop(): void;
}

export interface WatchOptions {
  readonly folders: readonly string[];
  readonly onChange: () => void;
  /** How long to wait for more changes; an editor's save is several. */
  readonly quietMs?: number;
  readonly lookEveryMs?: number;
}

export function watchFolders({ folders, onChange, quietMs = 100, lookEveryMs = 2_000 }: WatchOptions): FolderWatch {
  let quiet: NodeJS.Timeout | undefined;
  let stopped = false;
  const touched = (): void => {
    if (stopped) return;
    clearTimeout(quiet);
    quiet = setTimeout(onChange, quietMs);
  };
  const watchers = folders.flatMap((folder) => eventsOf(folder, touched));

  let known: string | undefined;
  const look = async (): Promise<void> => {
    const seen = (await Promise.all(folders.map(fingerprint))).join("\n");
    if (known !== undefined && seen !== known) touched();
    known = seen;
  };
  const looking = setInterval(() => void look(), lookEveryMs);
  void look();

  return {
    stop() {
      stopped = true;
      clearTimeout(quiet);
      clearInterval(looking);
      for (const watcher of watchers) watcher.close();
    },
  };
}

interface Watcher {
  close(): void;
}

/** Without events (some network and container file systems) looking is left, which is slower and never wrong. */
function eventsOf(folder: string, touched: () => void): readonly Watcher[] {
  try {
    const watcher = watch(folder, { recursive: true }, touched);
    watcher.on("error", () => watcher.close());
    return [watcher];
  } catch {
    return [];
  }
}

/** Equal as long as no file was added, removed or written; empty for a folder that can't be read. */
async function fingerprint(folder: string): Promise<string> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const lines = await Promise.all(files.sort().map(describe));
    return lines.join("\n");
  } catch {
    return "";
  }
}

async function describe(file: string): Promise<string> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    return `${file} ${size} ${mtimeMs} ${ino}`;
  } catch {
    // It went away since the folder was read; the next look sees that.
    return file;
  }
}
