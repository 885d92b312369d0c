// Objects that expire: removed once the store's own clock has come to their time. `expiry` of the
// reference says what that is; the collection has an index of it. port.ts says what a call may
// throw.

import type { CollectionRef } from "./refs.ts";

/** Each collection is looked at this often at least: what expires sooner than that is noted. */
export const betweenLooksMs = 30_000;

/**
 * What a list of an adapter throws where it can't leave out what has expired: it reads again once
 * that is removed. Callers of a store don't see it.
 */
export class ExpiredInTheWay extends Error {
  override readonly name = "ExpiredInTheWay";
}

/** For `catch`: undefined in place of that failure. */
export function whereInTheWay(error: unknown): undefined {
  if (!(error instanceof ExpiredInTheWay)) throw error;
}

/** Times in Unix milliseconds, by the store's clock. */
export interface Expiry {
  readonly now: number;
  /** When the next object expires, or has done so; undefined = none will. */
  readonly next: number | undefined;
}

/** Whether something has expired. */
export function isDue({ now, next }: Expiry): boolean {
  return next !== undefined && next <= now;
}

export interface ExpiryStep extends Expiry {
  readonly removed: number;
}

/** A collection by its name alone. */
export interface TakenCollection {
  readonly collection: CollectionRef;
  /** When its time comes again. */
  readonly until: number;
}

export interface ObjectExpiry {
  /**
   * Removes some of the objects that have expired. Says how it was before: while something was
   * removed, call again. Removes nothing while the index of expiry is that of another declaration,
   * or was made by another version of this program. The sweep, one for a collection, removes what
   * expired first; others leave some of it out.
   */
  removeExpired(collection: CollectionRef, by?: "sweep" | "others"): Promise<ExpiryStep>;
  /**
   * Undefined where there is no index of expiry, or such a one. For this alone the reference may
   * lack everything but the names: then any declaration will do.
   */
  nextExpiry(collection: CollectionRef): Promise<Expiry | undefined>;
  /**
   * Has the collection taken at this time at the latest; without a time: now, unless any is noted.
   */
  noteExpiring(collection: CollectionRef, at?: number): Promise<void>;
  /**
   * Up to `max` of the noted collections whose time has come, for this caller alone during
   * `takenMs`. Then their time comes again.
   */
  takeExpiring(max: number, takenMs: number): Promise<readonly TakenCollection[]>;
  /**
   * Says in how many milliseconds the time of a taken one comes again; undefined = it is no longer
   * noted. Has no effect where it was noted or taken meanwhile: then it is undefined.
   */
  takeAgain(taken: TakenCollection, inMs: number | undefined): Promise<TakenCollection | undefined>;
}
