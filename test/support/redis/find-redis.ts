// Vitest's global set-up of the projects that need Redis: finds it once, before the workers start,
// and tells them by environment where it is. Brings none: refuses with PartMissing, which says what
// a person can do. Programs that tests start by themselves, such as the writers of kill tests, keep
// what Node compiled of their sources in a cache, which halves what their start costs.

import { fileURLToPath } from "node:url";
import { findRedis } from "../../../tools/parts/redis.ts";

export async function setup(): Promise<void> {
  const { server, module } = await findRedis(process.env);
  process.env.JSONPLANE_REDIS_SERVER = server;
  process.env.JSONPLANE_REJSON = module;
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("../../../node_modules/.cache/compiled", import.meta.url));
}
