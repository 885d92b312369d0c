// One lock per part over all processes of this machine, so that nothing is built twice. The lock is SQLite's on a file of the cache:
// the operating system drops it with the process that held it, however that one ended.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { cacheFolder, type Environment } from "./cache.ts";

const busy = 5;
const retryMs = 250;
/** A handle that nothing leads to any more is closed by the garbage collector, and its lock goes with it. */
const held = new Set<DatabaseSync>();

/** Runs `work` while this process holds the lock `name`; calls `onWait` once when another process holds it first. */
export async function withPartLock<T>(
  env: Environment,
  name: string,
  work: () => Promise<T>,
  onWait: () => void = () => undefined,
): Promise<T> {
  const folder = join(cacheFolder(env), "locks");
  await mkdir(folder, { recursive: true });
  const file = new DatabaseSync(join(folder, `${name.replaceAll(/[^\w.-]+/g, "-")}.lock`), { timeout: 0 });
  try {
    for (let waits = 0; !acquired(file); waits += 1) {
      if (waits === 0) onWait();
      await sleep(retryMs);
    }
    held.add(file);
    return await work();
  } finally {
    held.delete(file);
    file.close();
  }
}

function acquired(file: DatabaseSync): boolean {
  try {
    file.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Error && "errcode" in error && error.errcode === busy) return false;
    throw error;
  }
}
