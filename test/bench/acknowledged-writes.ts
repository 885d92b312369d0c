// Writes objects to a Redis as fast as it acknowledges them, and says afterwards which of those
// that were acknowledged another Redis has not.

import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { bookText } from "./subjects.ts";

export interface Acknowledged {
  readonly key: string;
  /** By the clock of `performance.now()`. */
  readonly at: number;
}

export interface Writer {
  /** Grows until the writer has ended. */
  readonly acknowledged: readonly Acknowledged[];
  /** Resolves once nothing more is sent; it ends by itself with the connections. */
  end(): Promise<void>;
}

const lanes = 16;
const waitMs = 1_000;
const keysPerRead = 1_000;

/**
 * One write at a time on each connection. With `copies`, a write counts as acknowledged once WAIT
 * has said that so many replicas have it.
 */
export function startWriter(port: number, copies: number): Writer {
  const acknowledged: Acknowledged[] = [];
  const clients = Array.from({ length: lanes }, () => openClient(port));
  let isOver = false;
  const write = async (client: Redis, lane: number): Promise<void> => {
    for (let n = 0; !isOver && client.status !== "end"; n += 1) {
      const key = `book:${lane}:${n}`;
      if (await isAcknowledged(client, key, copies)) acknowledged.push({ key, at: performance.now() });
      else await sleep(10);
    }
  };
  const writing = Promise.all(clients.map(write));
  return {
    acknowledged,
    async end() {
      isOver = true;
      await writing;
      for (const client of clients) client.disconnect();
    },
  };
}

async function isAcknowledged(client: Redis, key: string, copies: number): Promise<boolean> {
  const commands = client.pipeline().call("JSON.SET", key, "$", bookText(1));
  if (copies > 0) commands.call("WAIT", copies, waitMs);
  const replies = (await commands.exec().catch(() => null)) ?? [[new Error("The connection ended"), null]];
  const [[, had] = [null, 0]] = replies.slice(-1);
  return replies.every(([error]) => error === null) && (copies === 0 || Number(had) >= copies);
}

/** Those that the server on that port doesn't have. */
export async function missingAt(port: number, writes: readonly Acknowledged[]): Promise<readonly Acknowledged[]> {
  const client = openClient(port);
  const missing: Acknowledged[] = [];
  for (let at = 0; at < writes.length; at += keysPerRead) {
    const some = writes.slice(at, at + keysPerRead);
    const commands = client.pipeline();
    for (const { key } of some) commands.exists(key);
    const replies = (await commands.exec()) ?? [];
    missing.push(...some.filter((_, index) => replies[index]?.[1] !== 1));
  }
  client.disconnect();
  return missing;
}

function openClient(port: number): Redis {
  const client = new Redis(port, "127.0.0.1", {
    protocol: 2,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
  });
  // A killed server ends the connection, which every call says itself.
  client.on("error", () => undefined);
  return client;
}
