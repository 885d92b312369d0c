// What this replica knows of each collection's index set, loaded on first use and again whenever a script says that it is
// stale. A script that was refused had no effect, so the attempt is repeated; refuses with WriteConflict when that never ends.

import { WriteConflict } from "../../../core/errors/store-errors.ts";
import { recentlyUsed } from "../../../core/recently-used.ts";
import type { IndexScripts } from "./index-scripts.ts";
import type { IndexSet } from "./index-set.ts";
import type { CollectionKeys } from "./keys.ts";

const collectionsKnown = 10_000;
/** Each repetition means that somebody declared indexes in between. */
const maxAttempts = 25;

export interface KnownIndexes {
  /** The set as known; loads it when it isn't. */
  get(keys: CollectionKeys): Promise<IndexSet>;
  reload(keys: CollectionKeys): Promise<IndexSet>;
  /** Has it loaded anew when it is needed next. */
  forget(keys: CollectionKeys): void;
  /**
   * Calls `attempt` with the set as known, and with a fresh one for as long as it answers `stale`. Throws WriteConflict when that never
   * ends.
   */
  withCurrent<T>(keys: CollectionKeys, attempt: (set: IndexSet) => Promise<T | "stale">): Promise<T>;
}

export function createKnownIndexes(scripts: Pick<IndexScripts, "load">): KnownIndexes {
  // Promises, so that calls that need the same set at once load it once.
  const known = recentlyUsed<Promise<IndexSet>>(collectionsKnown);

  const load = (keys: CollectionKeys): Promise<IndexSet> => {
    const loading = scripts.load(keys);
    known.set(keys.tag, loading);
    loading.catch(() => drop(keys, loading));
    return loading;
  };

  const drop = (keys: CollectionKeys, set: Promise<IndexSet>) => {
    if (known.peek(keys.tag) === set) known.delete(keys.tag);
  };

  return {
    get: (keys) => known.get(keys.tag) ?? load(keys),
    reload: load,
    forget(keys) {
      known.delete(keys.tag);
    },
    async withCurrent(keys, attempt) {
      for (let made = 0; made < maxAttempts; made += 1) {
        const loading = known.get(keys.tag) ?? load(keys);
        const result = await attempt(await loading);
        if (result !== "stale") return result;
        drop(keys, loading);
      }
      throw new WriteConflict(`The indexes of ${keys.tag} change faster than they can be read`);
    },
  };
}
