// Finds TCP ports of 127.0.0.1 that nothing listens on, drawn at random from a wide range below the
// one from which the kernel takes its own. One that was drawn is drawn by no process of the same
// user for two minutes: it may be some time before it is listened on.

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { cacheFolder } from "../../../tools/parts/cache.ts";

const lowest = 12_000;
const highest = 32_000;
/**
 * One empty file for each port that was drawn. In the cache folder, which every process shares
 * whatever its temporary folder is.
 */
const drawn = join(cacheFolder(process.env), "drawn-ports");
const reservedMs = 120_000;

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = randomInt(lowest, highest);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
  throw new Error(`No free port found between ${lowest} and ${highest}`);
}

/** False where somebody else has drawn it lately. */
async function reserve(port: number): Promise<boolean> {
  const file = join(drawn, String(port));
  await mkdir(drawn, { recursive: true });
  try {
    await writeFile(file, "", { flag: "wx" });
    return true;
  } catch {
    const since = (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
    if (Date.now() - since > reservedMs) await rm(file, { force: true });
    return false;
  }
}

/** Whether nothing listens there now. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
