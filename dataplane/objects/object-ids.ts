// Makes object ids: UUIDv7 (RFC 9562 §5.7) with a counter in rand_a, so that ids of one process
// sort by creation, also when its clock steps back by less than a minute.

import { randomBytes } from "node:crypto";
import type { Clock } from "../../core/clock.ts";

interface ObjectId {
  /** Lower case. */
  readonly id: string;
  /** Unix milliseconds in the id. `_metadata.created` is the same time. */
  readonly createdMs: number;
}

export type ObjectIds = () => ObjectId;

/** Ids are at most so far ahead of the clock. */
const maxAheadMs = 60_000;
const counterLimit = 0x1000;
const tailBytes = 8;
const poolBytes = 4096;
const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function createObjectIds(clock: Clock, random: (size: number) => Buffer = randomBytes): ObjectIds {
  let lastMs = 0;
  let counter = 0;
  let pool: Buffer = Buffer.alloc(0);
  /** Eight bytes at a time from the system cost 3 % of a create. */
  const takeRandom = (): Buffer => {
    if (pool.length < tailBytes) pool = random(poolBytes);
    const taken = pool.subarray(0, tailBytes);
    pool = pool.subarray(tailBytes);
    return taken;
  };
  return () => {
    const now = clock.now();
    if (lastMs - now > maxAheadMs) lastMs = 0;
    counter = now > lastMs ? 0 : counter + 1;
    lastMs = Math.max(now, lastMs);
    if (counter === counterLimit) {
      lastMs += 1;
      counter = 0;
    }
    const time = lastMs.toString(16).padStart(12, "0");
    const tail = takeRandom();
    tail.writeUInt8(((tail[0] ?? 0) & 0x3f) | 0x80, 0);
    const rest = tail.toString("hex");
    const sequence = counter.toString(16).padStart(3, "0");
    const id = `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${rest.slice(0, 4)}-${rest.slice(4)}`;
    return { id, createdMs: lastMs };
  };
}

/** The Unix second in an id, of which the first 48 bits are milliseconds (RFC 9562 §5.7). */
export function secondOf(id: string): number {
  return Math.floor(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) / 1_000);
}

const maxMs = 2 ** 48 - 1;
/** Greater than all ids. */
const behindAll = "g";

/** Less than all ids made from this second of Unix time on, and greater than earlier ones. */
export function beginningOfIds(seconds: number): string {
  const ms = Math.max(0, seconds * 1000);
  if (ms > maxMs) return behindAll;
  const time = ms.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** Whether a text can be an id: others need no request to the store. */
export function isObjectId(text: string): boolean {
  return pattern.test(text);
}
