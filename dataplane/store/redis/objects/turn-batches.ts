// Gathers what one turn of the event loop asks for into batches for one command or script each. A
// full batch is sent at once, so that Redis works on it while this process handles the turn's other
// requests; the others are sent when the turn ends.

import type { RedisClient } from "../../../../core/redis/redis-client.ts";

export type Batch<T> = readonly [T, ...T[]];

interface TurnBatchesOptions<T> {
  readonly redisClient: Pick<RedisClient, "atEndOfTurn" | "sendNow">;
  /** Items of one batch: two at least. */
  readonly maxLength: number;
  /** Must not throw. */
  readonly send: (batch: Batch<T>) => void;
}

/** Adds an item to this turn's batch of that name, in the order of the calls. */
export function createTurnBatches<T>(options: TurnBatchesOptions<T>): (name: string, item: T) => void {
  const { redisClient, maxLength, send } = options;
  let turn = new Map<string, [T, ...T[]]>();

  const sendAll = (): void => {
    const batches = turn;
    turn = new Map();
    for (const batch of batches.values()) send(batch);
  };

  return (name, item) => {
    if (turn.size === 0) redisClient.atEndOfTurn(sendAll);
    const batch = turn.get(name);
    if (batch === undefined) {
      turn.set(name, [item]);
      return;
    }
    batch.push(item);
    if (batch.length < maxLength) return;
    turn.delete(name);
    send(batch);
    redisClient.sendNow();
  };
}
