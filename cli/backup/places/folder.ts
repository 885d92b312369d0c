// Backups in a folder. A file is written under another name, read again, and renamed.

import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { type Place, PlaceFailed } from "./place.ts";

const unfinished = ".unfinished";
/** What a killed backup left is removed by a later one; a running one is younger. */
const staleMs = 24 * 3_600_000;

export function createFolder(folder: string): Place {
  const pathOf = (name: string): string => join(folder, name);

  const listed = async (below: string): Promise<readonly string[]> => {
    const entries = await readdir(pathOf(below), { withFileTypes: true, recursive: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/")).sort();
  };

  const removeStale = async (below: string): Promise<void> => {
    for (const name of (await listed(below)).filter(isUnfinished)) {
      // Another backup may have renamed it by now.
      const found = await stat(pathOf(name)).catch(() => undefined);
      if (found && Date.now() - found.mtimeMs > staleMs) await rm(pathOf(name), { force: true });
    }
  };

  return {
    async write(name, content) {
      const path = pathOf(name);
      const draft = `${path}.${randomUUID()}${unfinished}`;
      await orFailed(`${dirname(path)} can't be written`, async () => {
        // The folder itself is mounted, or it is a wrong name.
        await stat(folder);
        await mkdir(dirname(path), { recursive: true });
        await removeStale(dirname(name));
      });
      try {
        const written = await writeDraft(draft, content);
        const found = createHash("sha256");
        for await (const bytes of createReadStream(draft)) found.update(bytes);
        if (found.digest("hex") !== written) throw new PlaceFailed(`${draft} reads other bytes than were written`);
        await orFailed(`${path} can't be written`, () => rename(draft, path));
      } catch (error) {
        await rm(draft, { force: true }).catch(() => undefined);
        throw error;
      }
      await syncFolder(dirname(path));
    },
    async names(below) {
      const found = await orFailed(`${pathOf(below)} can't be read`, () => listed(below), []);
      return found.filter((name) => !isUnfinished(name));
    },
    async *read(name) {
      try {
        yield* createReadStream(pathOf(name)) as AsyncIterable<Uint8Array>;
      } catch (cause) {
        throw failed(`${pathOf(name)} can't be read`, cause);
      }
    },
    remove: (name) => orFailed(`${pathOf(name)} can't be removed`, () => rm(pathOf(name), { force: true })),
  };
}

function isUnfinished(name: string): boolean {
  return name.endsWith(unfinished);
}

/** Resolves with the SHA-256 of what the disk was given. */
async function writeDraft(draft: string, content: AsyncIterable<Uint8Array>): Promise<string> {
  const file = await orFailed(`${draft} can't be written`, () => open(draft, "wx", 0o600));
  const hash = createHash("sha256");
  try {
    for await (const bytes of content) {
      hash.update(bytes);
      await orFailed(`${draft} can't be written`, () => file.writeFile(bytes));
    }
    await orFailed(`${draft} can't be written`, () => file.sync());
    return hash.digest("hex");
  } finally {
    await file.close();
  }
}

/** So that the name outlives a crash of the machine. */
async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/** `absent` = what there is where the folder is not there. */
async function orFailed<T>(what: string, run: () => Promise<T>, absent?: T): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    if (absent !== undefined && (cause as NodeJS.ErrnoException).code === "ENOENT") return absent;
    throw failed(what, cause);
  }
}

function failed(what: string, cause: unknown): PlaceFailed {
  return new PlaceFailed(`${what}: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`, { cause });
}
