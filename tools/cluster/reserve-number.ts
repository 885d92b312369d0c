// Which cluster of this machine is a test's own: two runs of the tests at once would use one
// cluster, and the first to end would take it down under the other.

import { once } from "node:events";
import { createServer } from "node:net";

export interface ReservedNumber {
  readonly number: number;
  release(): void;
}

/** 0 is `make cluster`'s, and addresses of a cluster have room for a byte. */
const highest = 99;
/**
 * A port that this process listens on reserves a number: it is free again when the process ends,
 * however it does.
 */
const firstPort = 16_700;

/** The lowest number that no process of this machine has reserved; throws when there is none. */
export async function reserveClusterNumber(): Promise<ReservedNumber> {
  for (let number = 1; number <= highest; number += 1) {
    const release = await holdPort(firstPort + number);
    if (release !== undefined) return { number, release };
  }
  throw new Error(
    `Tests have ${highest} clusters on this machine already: ports ${firstPort + 1} and following are taken`,
  );
}

/** Undefined where another process listens on it. */
async function holdPort(port: number): Promise<(() => void) | undefined> {
  const server = createServer((socket) => socket.destroy()).unref();
  server.listen({ host: "127.0.0.1", port, exclusive: true });
  try {
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw error;
  }
  return () => void server.close();
}
