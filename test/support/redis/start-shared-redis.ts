// Vitest's global set-up of the projects whose files share a Redis (shared-redis.ts): starts it
// before the first test, and ends it after the last. To be listed after find-redis.ts.

import type { TestProject } from "vitest/node";
import { startRedis } from "./redis.ts";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await startRedis();
  project.provide("redisPort", redis.port);
  return () => redis.stop();
}
