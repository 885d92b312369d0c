// After READONLY: finds out over a connection of its own whether the address leads to a primary by now, as after a failover behind one
// name. The connection in use goes on answering reads meanwhile, and is given up only when there is something better.

import type { Redis } from "ioredis";
import { fieldsOf } from "./reply.ts";

export interface FindPrimaryParts {
  /** A client of the same address that isn't connected yet. */
  readonly open: () => Redis;
  /** Called when the address leads to a primary. */
  readonly onFound: () => void;
  readonly monotonic: () => number;
}

/** Milliseconds between two looks: one per refused write would be a flood of connections. */
const restMs = 250;

/** What it returns looks once, unless it looks already or did a moment ago. */
export function createPrimaryFinder({ open, onFound, monotonic }: FindPrimaryParts): () => void {
  let isLooking = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const look = async (): Promise<void> => {
    const client = open();
    // Without a listener ioredis prints.
    client.on("error", () => undefined);
    try {
      await client.connect();
      if (await isPrimary(client)) onFound();
    } catch {
      // Nobody answers there: the next refused write looks again.
    } finally {
      client.disconnect();
    }
  };

  return () => {
    if (isLooking || monotonic() - lookedAt < restMs) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
      lookedAt = monotonic();
    });
  };
}

/** HELLO says the server's role, and needs no permission. */
async function isPrimary(client: Redis): Promise<boolean> {
  const facts = (await client.call("HELLO")) as readonly unknown[];
  return fieldsOf(facts.map(String)).get("role") === "master";
}
