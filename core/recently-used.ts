// An LRU map. It takes its memory as it fills: LRUCache with `max` allocates all of it when it is
// made, which is most of what starting a data plane costs.

import { LRUCache } from "lru-cache";

/**
 * `onGone` is called with the key of each entry that has left: evicted, deleted, or replaced. By
 * then `get` finds what has replaced it.
 */
export function recentlyUsed<Value extends {}>(max: number, onGone?: (key: string) => void): LRUCache<string, Value> {
  const disposeAfter = onGone && ((_value: Value, key: string) => onGone(key));
  return new LRUCache<string, Value>({ maxSize: max, sizeCalculation: () => 1, ...(disposeAfter && { disposeAfter }) });
}
