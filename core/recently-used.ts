// A map of at most so many entries, which forgets the one that was used longest ago. It takes its memory as it fills: LRUCache with `max`
// sets all of it aside when it is made, which is most of what starting a data plane costs.

import { LRUCache } from "lru-cache";

/** `onGone` is called with the key of each entry that leaves: forgotten, deleted, or replaced by another one. */
export function recentlyUsed<Value extends {}>(max: number, onGone?: (key: string) => void): LRUCache<string, Value> {
  const dispose = onGone && ((_value: Value, key: string) => onGone(key));
  return new LRUCache<string, Value>({ maxSize: max, sizeCalculation: () => 1, ...(dispose && { dispose }) });
}
