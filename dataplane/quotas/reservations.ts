// What is reserved for writes under way.

import { type Amounts, noAmounts, plus } from "./stored-amounts.ts";

export interface Reservations {
  amounts(): Amounts;
  /** Reserves these until the function that is returned is called. */
  add(amounts: Amounts): () => void;
  /** Resolves once all that there are now have ended. */
  ended(): Promise<unknown>;
}

export function createReservations(): Reservations {
  let reserved = noAmounts;
  const pending = new Set<Promise<void>>();
  return {
    amounts: () => reserved,
    add(amounts) {
      reserved = plus(reserved, amounts);
      const { promise, resolve } = Promise.withResolvers<void>();
      pending.add(promise);
      return () => {
        reserved = plus(reserved, amounts, -1);
        pending.delete(promise);
        resolve();
      };
    },
    ended: () => Promise.all(pending),
  };
}
