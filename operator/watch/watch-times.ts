// How long a reflector waits for what. Tests scale them all down.

import { Backoff } from "../../core/backoff.ts";

export interface WatchTimes {
  /** Objects per page of a list: one may have more than a mebibyte. */
  readonly pageSize: number;
  /**
   * Objects per page of a list that holds nothing but metadata: annotations of one may have a
   * quarter of a mebibyte.
   */
  readonly metadataPageSize: number;
  /**
   * A cache of no more objects is compared with a list of their metadata, rather than by a
   * bookmark.
   */
  readonly maxCompared: number;
  /** A watch on which no byte has come for so long is replaced: two bookmarks are missing then. */
  readonly idleMs: number;
  /** A watch that has lasted so long is a good one, whatever it delivered. */
  readonly healthyMs: number;
  /**
   * The first pause after a failure is up to this long, each further one up to twice as long, up to
   * the cap.
   */
  readonly backoffMs: number;
  readonly backoffCapMs: number;
  /** Between two lists that find no such kind. */
  readonly missingMs: number;
  /**
   * What a list has newer than the cache, the watch has so long to deliver before everything is
   * listed again.
   */
  readonly catchUpMs: number;
  /**
   * A watch that is to show how far the cache is: the server sends a bookmark two seconds before it
   * ends one.
   */
  readonly confirmingSeconds: number;
  /**
   * A bookmark that shows that the cache is not behind may take so long; then everything is
   * compared.
   */
  readonly bookmarkMs: number;
  /** The server ends any other watch after a random time between these: not all of them at once. */
  readonly watchSeconds: readonly [number, number];
}

export const defaultWatchTimes: WatchTimes = {
  pageSize: 100,
  metadataPageSize: 400,
  maxCompared: 2_000,
  idleMs: 120_000,
  healthyMs: 5_000,
  backoffMs: 250,
  backoffCapMs: 5_000,
  missingMs: 1_000,
  catchUpMs: 1_000,
  confirmingSeconds: 3,
  bookmarkMs: 6_500,
  watchSeconds: [300, 600],
};

/**
 * Between attempts that fail: at a random moment of each wait, so that not all reflectors ask at
 * once.
 */
export function backoffOf({ backoffMs, backoffCapMs }: WatchTimes, random: () => number): Backoff {
  return new Backoff({ firstMs: backoffMs, maxMs: backoffCapMs, jitter: 1 }, random);
}
