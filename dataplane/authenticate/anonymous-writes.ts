// Bounds what callers without credentials may write, per client address, where credentials exist. Refuses with 429.

import type { ProjectConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { CounterStore } from "../store/port.ts";
import { addressGroup } from "./address-group.ts";

export async function demandAnonymousWrite(
  store: CounterStore,
  project: ProjectConfig,
  address: string,
): Promise<void> {
  // With authentication Disabled everyone is anonymous, and the platform's own limits apply.
  if (project.authentication === "Disabled") return;
  const limit = project.limits.anonymousWritesPerMinute;
  const name = `writes:${project.namespace}/${project.name}:${addressGroup(address)}`;
  const result = await store.spend([{ name, limit, windowSeconds: 60 }]);
  if (result.outcome === "exhausted") {
    throw new Problem("write_throttled", `Without credentials, an address may write ${limit} times a minute`, {
      headers: { "Retry-After": String(result.retryAfterSeconds) },
    });
  }
}
