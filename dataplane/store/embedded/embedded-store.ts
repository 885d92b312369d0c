// Joins the parts of the embedded store over one database file: a Store for one process that needs nothing beside Node.
//
// An acknowledged write is on the disk: it survives the death of the process and, as far as the disk keeps what it says, of
// the machine. Counters live in memory. A folder belongs to one process at a time.

import type { Clock } from "../../../core/clock.ts";
import { createMemoryBuckets } from "../memory-buckets.ts";
import type { Store, StoreObservation } from "../port.ts";
import { createCollections } from "./collections.ts";
import { createCounters } from "./counters.ts";
import { createDocuments } from "./documents.ts";
import { createEntries } from "./entries.ts";
import { createFigures } from "./figures.ts";
import { createIdempotencyRecords } from "./idempotency-records.ts";
import { createIndexes } from "./indexes.ts";
import { createKeysetPages } from "./keyset-pages.ts";
import { createSlices } from "./object-slices.ts";
import { createObjects } from "./objects.ts";
import { openDatabase } from "./open-database.ts";
import { createPages } from "./pages.ts";
import { createRankCheckpoints, usualSpacing } from "./rank-checkpoints.ts";
import { createSessions } from "./sessions.ts";
import { createSweep } from "./sweep-dropped.ts";
import { createTexts } from "./texts.ts";
import { createTransactions } from "./transactions.ts";

export interface EmbeddedStoreOptions {
  /** Made when it is missing; `:memory:` keeps everything in memory until it is closed. */
  readonly directory: string;
  readonly clock: Clock;
  readonly observe?: (observation: StoreObservation) => void;
  /** Entries of an ordering between two checkpoints in memory (rank-checkpoints.ts), 128 by default. */
  readonly checkpointSpacing?: number;
}

/** Rejects with DataFolderUnusable when the folder is in use, unwritable, damaged, foreign or of a newer version. */
export async function createEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { directory, clock, observe = ignore, checkpointSpacing = usualSpacing } = options;
  const database = openDatabase(directory);
  const collections = createCollections(database);
  const checkpoints = createRankCheckpoints(database, checkpointSpacing);
  const onRollback = () => {
    collections.forget();
    checkpoints.forget();
  };
  const transactions = createTransactions(database, { observe, onRollback });
  const tables = { checkpoints, entries: createEntries(database, checkpoints), sliceAfter: createSlices(database) };
  const records = createIdempotencyRecords(database, transactions, clock);
  const texts = createTexts({ database, transactions, collections });
  const parts = { database, transactions, collections, records, texts, ...tables };
  const sweep = createSweep(database, transactions);
  const indexes = createIndexes(parts);
  sweep.wake();

  return {
    ...createObjects(parts),
    ...createPages(parts),
    ...createKeysetPages(parts),
    ...indexes,
    async declareIndexes(collection, fields, revision) {
      const states = await indexes.declareIndexes(collection, fields, revision);
      sweep.wake();
      return states;
    },
    ...createDocuments(database, transactions, records),
    idempotencyRecord: records.idempotencyRecord,
    ...createFigures(database, transactions, collections),
    ...createSessions(database, transactions, clock),
    ...createCounters(clock),
    ...createMemoryBuckets(clock),
    health: () => ({ reachable: transactions.isReachable() }),
    async close() {
      sweep.stop();
      await transactions.close();
      if (database.isOpen) database.close();
    },
  };
}

function ignore(): void {
  // Without an observer nobody asks.
}
