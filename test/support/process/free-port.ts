// Finds TCP ports of 127.0.0.1 that nothing listens on; another process could take one before it is used, so ports are
// drawn at random from a wide range below the one from which the kernel takes its own.

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

const lowest = 12_000;
const highest = 32_000;

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port found between ${lowest} and ${highest}`);
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
