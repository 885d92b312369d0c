// The store as the data plane sees it: objects in collections, one JSON document per root key,
// sessions, and counters that all replicas share. It knows neither HTTP nor Redis. Each call may
// throw, from core/errors/store-errors.ts, StoreUnavailable (nothing was sent, nothing happened),
// OutcomeUnknown (a write was sent and its answer never came), or WriteConflict (other writes kept
// winning, nothing happened). No adapter sends a write twice. An adapter is done when it passes
// test/store/contract/.

import type { ChangeLogs } from "./ports/changes.ts";
import type { DocumentReads, DocumentWrites } from "./ports/documents.ts";
import type { ObjectExpiry } from "./ports/expiry.ts";
import type { IdempotencyRecords } from "./ports/idempotency.ts";
import type { ObjectIndexes } from "./ports/indexes.ts";
import type { Counters, TokenBuckets } from "./ports/limits.ts";
import type { ObjectLists } from "./ports/lists.ts";
import type { ObjectReads, ObjectWrites } from "./ports/objects.ts";
import type { CollectionPurges, DocumentPurges, SessionPurges } from "./ports/purges.ts";
import type { EndedSessionFeed, SessionReads, SessionWrites } from "./ports/sessions.ts";
import type { ByteCounts, Sizes } from "./ports/sizes.ts";

/** What requests for stored data ask of it. */
export interface DataStore
  extends ObjectReads,
    ObjectWrites,
    ObjectLists,
    DocumentReads,
    DocumentWrites,
    ChangeLogs,
    IdempotencyRecords {}

/** The entire store, for code that opens, wraps or closes one; other code names ports. */
export interface Store
  extends DataStore,
    ObjectIndexes,
    ObjectExpiry,
    CollectionPurges,
    DocumentPurges,
    SessionPurges,
    ChangeLogs,
    Sizes,
    ByteCounts,
    SessionReads,
    SessionWrites,
    EndedSessionFeed,
    Counters,
    TokenBuckets,
    HealthCheck {
  /** Waits for calls under way, then lets go of connections and files. */
  close(): Promise<void>;
}

export interface HealthCheck {
  health(): StoreHealth;
}

export interface StoreHealth {
  /** True when a command could be sent now. */
  readonly reachable: boolean;
  /** What it ran on when the last connection was made; undefined where that is unknown. */
  readonly engine?: StoreEngine | undefined;
}

export interface StoreEngine {
  /** `Redis`, `Valkey`, or as the server calls itself. */
  readonly name: string;
  readonly version: string;
  /** The JSON module: `RedisJSON`, `valkey-json`. */
  readonly json: string;
  /** `0.0.0` when the server doesn't say it. */
  readonly jsonVersion: string;
  /** Whether the tests run on this combination of minor versions. */
  readonly tested: boolean;
}

/** What an adapter reports of each call; the program turns it into a metric. */
export interface StoreObservation {
  readonly operation: string;
  readonly seconds: number;
  readonly outcome: "ok" | "unavailable" | "unknown" | "error";
}
