// How a call to a store or to Redis fails, for callers that must know whether it had an effect.

/** The store could not be reached, or refused; the call had no effect. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/**
 * The store answers reads and refuses writes now: it is full, can't save, or is not the primary.
 */
export class WritesRefused extends StoreUnavailable {}

/** The same, because it has no room left. Removals and revocations still work. */
export class StoreFull extends WritesRefused {}

/** Writes are refused. The server may have been demoted, so that reads from it may be stale. */
export class PrimaryInDoubt extends WritesRefused {}

/** Another version of this program stored what would have to be changed. The call had no effect. */
export class StoredByOtherVersion extends StoreUnavailable {}

/** The store has no replica, which the write was to wait for. The call had no effect. */
export class NoReplica extends StoreUnavailable {}

/** A write was sent and the connection ended before its answer: it happened once or not at all. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}

/** A write was made, and no replica of the store confirmed it in time: it may yet be lost. */
export class NotReplicated extends OutcomeUnknown {}

/** Other writes to the same data kept winning. The store works, and the call had no effect. */
export class WriteConflict extends Error {
  override readonly name = "WriteConflict";
}

/** True of what says that the store failed, and false of a defect. */
export function isStoreFailure(error: unknown): error is StoreUnavailable | OutcomeUnknown {
  return error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
}
