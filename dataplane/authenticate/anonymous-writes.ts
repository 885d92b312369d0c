// Bounds what callers without credentials may write, per client address, where credentials exist. Refuses with 429. While the store takes no
// writes it can't count either: what removes something may go on then, so each replica counts alone.

import type { Clock } from "../../core/clock.ts";
import type { ProjectConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { WritesRefused } from "../../core/errors/store-errors.ts";
import { createMemoryBuckets } from "../store/memory-buckets.ts";
import type { Budget, CounterStore, SpendOutcome } from "../store/port.ts";
import { addressGroup } from "./address-group.ts";

export interface AnonymousWrites {
  /** Throws Problem `write_throttled`. */
  demand(project: ProjectConfig, address: string): Promise<void>;
}

const windowSeconds = 60;

export function createAnonymousWrites(store: CounterStore, clock: Clock): AnonymousWrites {
  const local = createMemoryBuckets(clock);

  const spend = async (budget: Budget): Promise<SpendOutcome> => {
    try {
      return await store.spend([budget]);
    } catch (error) {
      if (!(error instanceof WritesRefused)) throw error;
    }
    const { name, limit } = budget;
    const { taken, waitMs } = await local.drawTokens({ name, perSecond: limit / windowSeconds, burst: limit }, 1);
    return taken === 1 ? { outcome: "spent" } : { outcome: "exhausted", retryAfterSeconds: Math.ceil(waitMs / 1_000) };
  };

  return {
    async demand(project, address) {
      // With authentication Disabled everyone is anonymous, and the platform's own limits apply.
      if (project.authentication === "Disabled") return;
      const limit = project.limits.anonymousWritesPerMinute;
      const name = `writes:${project.namespace}/${project.name}:${addressGroup(address)}`;
      const result = await spend({ name, limit, windowSeconds });
      if (result.outcome === "exhausted") {
        throw new Problem("write_throttled", `Without credentials, an address may write ${limit} times a minute`, {
          headers: { "Retry-After": String(result.retryAfterSeconds) },
        });
      }
    },
  };
}
