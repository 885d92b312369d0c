// A map of at most so many entries, which forgets the one that was used longest ago. It takes its memory as it fills: LRUCache with `max`
// sets all of it aside when it is made, which is most of what starting a data plane costs.

import { LRUCache } from "lru-cache";

export function recentlyUsed<Value extends {}>(max: number): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ maxSize: max, sizeCalculation: () => 1 });
}
