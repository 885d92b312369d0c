// A fair queue of keys of Projects: namespaces are served in rotation, and each hands out the key that has waited longest in it, so that one
// with thousands of changes keeps no other one waiting.

import { projectOfKey } from "../../core/config/config-keys.ts";

export interface FairQueue {
  has(key: string): boolean;
  size(): number;
  add(key: string): void;
  /** `mayHave`: whether a namespace may have a turn now; one that may not has its next turn after all others. */
  shift(mayHave?: (namespace: string) => boolean): string | undefined;
  /** Whether it was there. */
  remove(key: string): boolean;
  clear(): void;
}

export function createFairQueue(): FairQueue {
  /** Namespaces with keys that wait, in the order in which they are served. */
  const order = createFifoSet();
  const waiting = new Map<string, FifoSet>();
  let size = 0;
  const namespaceOf = (key: string): string => projectOfKey(key).namespace;
  const nextOf = (mayHave: (namespace: string) => boolean): string | undefined => {
    for (let left = order.keys.size; left > 0; left -= 1) {
      const namespace = order.shift();
      if (namespace === undefined || mayHave(namespace)) return namespace;
      order.add(namespace);
    }
    return undefined;
  };
  const has = (key: string): boolean => waiting.get(namespaceOf(key))?.keys.has(key) === true;
  return {
    has,
    size: () => size,
    add(key) {
      if (has(key)) return;
      const namespace = namespaceOf(key);
      const own = waiting.get(namespace) ?? createFifoSet();
      own.add(key);
      size += 1;
      waiting.set(namespace, own);
      order.add(namespace);
    },
    shift(mayHave = () => true) {
      const namespace = nextOf(mayHave);
      const own = namespace === undefined ? undefined : waiting.get(namespace);
      if (namespace === undefined || own === undefined) return undefined;
      const key = own.shift();
      size -= 1;
      if (own.keys.size > 0) order.add(namespace);
      else waiting.delete(namespace);
      return key;
    },
    remove(key) {
      const namespace = namespaceOf(key);
      const own = waiting.get(namespace);
      if (own === undefined || !own.remove(key)) return false;
      size -= 1;
      if (own.keys.size > 0) return true;
      waiting.delete(namespace);
      order.remove(namespace);
      return true;
    },
    clear() {
      size = 0;
      waiting.clear();
      order.clear();
    },
  };
}

interface FifoSet {
  readonly keys: ReadonlySet<string>;
  add(key: string): void;
  shift(): string | undefined;
  /** Whether it was there. */
  remove(key: string): boolean;
  clear(): void;
}

/**
 * First in, first out, as a Set keeps its order. One iterator serves all calls, and covers keys that are added later: a new iterator for
 * each key would pass over everything that was deleted since the Set's table was last made smaller.
 */
function createFifoSet(): FifoSet {
  const keys = new Set<string>();
  let iterator = keys.values();
  /** An iterator that is not advanced keeps every former table of the Set in memory. */
  const forgetTables = (): void => {
    if (keys.size === 0) iterator = keys.values();
  };
  return {
    keys,
    add: (key) => void keys.add(key),
    remove(key) {
      const isKnown = keys.delete(key);
      if (isKnown) forgetTables();
      return isKnown;
    },
    clear() {
      keys.clear();
      forgetTables();
    },
    shift() {
      let { value, done } = iterator.next();
      // An iterator that has come to the end stays there.
      if (done) {
        iterator = keys.values();
        ({ value } = iterator.next());
      }
      if (value !== undefined) keys.delete(value);
      return value;
    },
  };
}
