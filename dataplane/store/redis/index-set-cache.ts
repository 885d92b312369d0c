// What this replica knows of each collection's index set, loaded on first use and again whenever a script says that it is
// stale. A script that was refused had no effect, so the attempt is repeated; refuses with WriteConflict when that never ends.

import { WriteConflict } from "../../../core/errors/store-errors.ts";
import { recentlyUsed } from "../../../core/recently-used.ts";
import type { IndexScripts } from "./index-scripts.ts";
import type { IndexSet } from "./index-set.ts";
import type { CollectionKeys } from "./keys.ts";

const maxCollections = 10_000;
/** Each repetition means that somebody declared indexes in between. */
const maxAttempts = 25;

export interface IndexSetCache {
  /** The cached set; loads it when there is none. */
  get(keys: CollectionKeys): Promise<IndexSet>;
  reload(keys: CollectionKeys): Promise<IndexSet>;
  /** Has it loaded anew when it is needed next. */
  forget(keys: CollectionKeys): void;
  /**
   * Calls `attempt` with the cached set, and with a fresh one for as long as it answers `stale`. Throws WriteConflict when that never
   * ends.
   */
  retryWhileStale<T>(keys: CollectionKeys, attempt: (set: IndexSet) => Promise<T | "stale">): Promise<T>;
}

export function createIndexSetCache(scripts: Pick<IndexScripts, "load">): IndexSetCache {
  // Promises, so that calls that need the same set at once load it once.
  const sets = recentlyUsed<Promise<IndexSet>>(maxCollections);

  const load = (keys: CollectionKeys): Promise<IndexSet> => {
    const loading = scripts.load(keys);
    sets.set(keys.tag, loading);
    loading.catch(() => drop(keys, loading));
    return loading;
  };

  const drop = (keys: CollectionKeys, set: Promise<IndexSet>) => {
    if (sets.peek(keys.tag) === set) sets.delete(keys.tag);
  };

  return {
    get: (keys) => sets.get(keys.tag) ?? load(keys),
    reload: load,
    forget(keys) {
      sets.delete(keys.tag);
    },
    async retryWhileStale(keys, attempt) {
      for (let made = 0; made < maxAttempts; made += 1) {
        const loading = sets.get(keys.tag) ?? load(keys);
        const result = await attempt(await loading);
        if (result !== "stale") return result;
        drop(keys, loading);
      }
      throw new WriteConflict(`The indexes of ${keys.tag} change faster than they can be read`);
    },
  };
}
