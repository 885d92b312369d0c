// One lock per part over all processes of this machine, so that nothing is built twice. The lock is
// SQLite's on a file of the cache: the operating system drops it with the process that held it,
// however that one ended.

import { access, constants, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { cacheFolder, type Environment } from "./cache.ts";
import { PartMissing } from "./part.ts";

const busy = 5;
const retryMs = 250;
/**
 * A handle that nothing leads to any more is closed by the garbage collector, and its lock goes
 * with it.
 */
const held = new Set<DatabaseSync>();

interface LockWait {
  /** Called once when another process holds the lock first. */
  readonly onWait?: () => void;
  /** Ends the waiting when it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Runs `work` while this process holds the lock `name`. Throws PartMissing when the lock can't be
 * used.
 */
export async function withPartLock<T>(
  env: Environment,
  name: string,
  work: () => Promise<T>,
  { onWait, signal }: LockWait = {},
): Promise<T> {
  const folder = join(cacheFolder(env), "locks");
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name.replaceAll(/[^\w.-]+/g, "-")}.lock`);
  const file = await opened(path);
  try {
    for (let waits = 0; !acquired(file, path); waits += 1) {
      if (waits === 0) onWait?.();
      await sleep(retryMs, undefined, { signal });
    }
    held.add(file);
    return await work();
  } finally {
    held.delete(file);
    file.close();
  }
}

async function opened(path: string): Promise<DatabaseSync> {
  try {
    // SQLite opens a file that it can't write for reading, and such a lock keeps nobody out.
    await access(path, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    return new DatabaseSync(path, { timeout: 0 });
  } catch (cause) {
    throw unusable(path, cause);
  }
}

function unusable(path: string, cause: unknown): PartMissing {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new PartMissing(`The lock ${path} can't be used (${reason}): see that this user may write it, or delete it`, {
    cause,
  });
}

function acquired(file: DatabaseSync, path: string): boolean {
  try {
    file.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Error && "errcode" in error && error.errcode === busy) return false;
    throw unusable(path, error);
  }
}
