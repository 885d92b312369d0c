// The embedded store over one database file: a Store for one process that needs nothing but Node.
//
// An acknowledged write is on the disk: it survives the death of the process and, if the disk keeps
// its word, of the machine. Counters are in memory. A folder belongs to one process at a time.

import type { Clock } from "../../../core/clock.ts";
import { withExpiry } from "../expiring.ts";
import { createMemoryBuckets } from "../memory-buckets.ts";
import { observedStore } from "../observed-store.ts";
import type { Store, StoreObservation } from "../port.ts";
import { createChangeLogs } from "./change-logs.ts";
import { createCollections } from "./collections.ts";
import { createCounters } from "./counters.ts";
import { createDocuments } from "./documents.ts";
import { createEntries } from "./entries.ts";
import { createExpiry } from "./expiry.ts";
import { createIdempotencyRecords } from "./idempotency-records.ts";
import { createIndexes } from "./indexes.ts";
import { createObjects } from "./objects.ts";
import { openDatabase } from "./open-database.ts";
import { createPages } from "./pages.ts";
import { createSessions } from "./sessions.ts";
import { createSizes } from "./sizes.ts";
import { createTextReader } from "./text-reader.ts";
import { createTransactions } from "./transactions.ts";

export interface EmbeddedStoreOptions {
  /** Made when it is missing; `:memory:` keeps everything in memory until it is closed. */
  readonly directory: string;
  readonly clock: Clock;
  readonly observe?: (observation: StoreObservation) => void;
}

/** Rejects with DataFolderUnusable: in use, unwritable, damaged, foreign or newer. */
export async function createEmbeddedStore({ directory, clock, observe }: EmbeddedStoreOptions): Promise<Store> {
  const database = openDatabase(directory);
  const collections = createCollections(database);
  const transactions = createTransactions(database, () => {
    collections.forget();
    changes.forget();
  });
  const changes = createChangeLogs(database, transactions, clock);
  const entries = createEntries(database);
  const records = createIdempotencyRecords(database, transactions, clock);
  const texts = createTextReader({ database, transactions, collections });
  const deps = { database, transactions, collections, entries, records, texts, changes, clock };
  const objects = createObjects(deps);
  const expiry = createExpiry(deps);
  const time = () => Promise.resolve(clock.now());
  const { monotonic } = clock;
  const store: Store = {
    ...objects,
    ...expiry,
    ...withExpiry({ objects: { ...objects, ...createPages(deps) }, expiry, time, monotonic }),
    ...createIndexes(deps),
    ...createDocuments({ database, transactions, records, changes }),
    newestChange: changes.newestChange,
    changesAfter: changes.changesAfter,
    onChanges: changes.onChanges,
    idempotencyRecord: records.idempotencyRecord,
    ...createSizes(deps),
    ...createSessions(database, transactions, clock),
    ...createCounters(clock),
    ...createMemoryBuckets(clock),
    health: () => ({ reachable: transactions.isReachable() }),
    async close() {
      await transactions.close();
      if (database.isOpen) database.close();
    },
  };
  return observedStore(store, observe);
}
