// How many Events there may be: of one object a burst of twenty-five, then one in five minutes, as Kubernetes' own components hold
// it. Only so many objects are remembered; one that was forgotten begins anew.

import { recentlyUsed } from "../../core/recently-used.ts";
import type { Monotonic } from "../../core/timers.ts";
import type { Subject } from "../model/verdict.ts";
import { createTokenBucket, type TokenBucket } from "../queue/token-bucket.ts";

const perObject = { burst: 25, refillMs: 300_000 };
const objectsRemembered = 4_096;

export interface EventLimits {
  /** Whether one more may be written about the object now. */
  allow(subject: Subject): boolean;
}

export function createEventLimits(monotonic: Monotonic): EventLimits {
  const buckets = recentlyUsed<TokenBucket>(objectsRemembered);
  return {
    allow({ kind, namespace, name, uid }) {
      const key = `${kind}/${namespace}/${name}/${uid}`;
      const bucket = buckets.get(key) ?? createTokenBucket({ ...perObject, monotonic });
      buckets.set(key, bucket);
      return bucket.tryTake();
    },
  };
}
