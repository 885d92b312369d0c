// Deletes the entries of dropped orderings, a few in each turn of the event loop, until none are left; a restart goes on
// where the last process stopped. A failing disk ends the sweep until the next drop or start.

import type { DatabaseSync } from "node:sqlite";
import type { Transactions } from "./transactions.ts";

export interface Sweep {
  /** Starts sweeping, when it isn't under way. */
  wake(): void;
  stop(): void;
}

const entriesPerTurn = 500;
const pauseMilliseconds = 5;

export function createSweep(database: DatabaseSync, transactions: Transactions): Sweep {
  const dropped = database.prepare("SELECT ordering FROM orderings WHERE state = 'dropped' LIMIT 1");
  const entries = database.prepare(
    `DELETE FROM entries WHERE (ordering, owner, value, id) IN
      (SELECT ordering, owner, value, id FROM entries WHERE ordering = ? LIMIT ?)`,
  );
  const row = database.prepare("DELETE FROM orderings WHERE ordering = ?");
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  function step(): boolean {
    const next = dropped.get();
    if (next === undefined) return false;
    const ordering = Number(next.ordering);
    if (entries.run(ordering, entriesPerTurn).changes < entriesPerTurn) row.run(ordering);
    return true;
  }

  function turn(): void {
    transactions.write("sweep", step).then(
      (more) => {
        timer = more && !isStopped ? schedule() : undefined;
      },
      () => {
        // Observed by the transactions; what is left takes room only.
        timer = undefined;
      },
    );
  }

  function schedule(): NodeJS.Timeout {
    return setTimeout(turn, pauseMilliseconds).unref();
  }

  return {
    wake() {
      timer ??= schedule();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
