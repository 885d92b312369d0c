// Bounds what callers without credentials may write, per client address, where credentials exist. Refuses with 429.

import type { ProjectConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { addressGroup } from "./client-address.ts";
import type { LocalBuckets } from "./local-buckets.ts";

export interface AnonymousWrites {
  /** Throws Problem `write_throttled`. */
  spend(project: ProjectConfig, address: string): Promise<void>;
}

const windowSeconds = 60;

export function createAnonymousWrites(buckets: Pick<LocalBuckets, "spend">): AnonymousWrites {
  return {
    async spend(project, address) {
      // With authentication Disabled everyone is anonymous, and the platform's own limits apply.
      if (project.authentication === "Disabled") return;
      const limit = project.limits.anonymousWritesPerMinute;
      const name = `writes:${project.namespace}/${project.name}:${addressGroup(address)}`;
      const result = await buckets.spend({ name, limit, windowSeconds });
      if (result.outcome === "exhausted") {
        throw new Problem(
          "write_throttled",
          `Without credentials, an address may write at most ${limit} times a minute`,
          {
            headers: { "Retry-After": String(result.retryAfterSeconds) },
          },
        );
      }
    },
  };
}
