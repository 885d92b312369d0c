// Vitest's global set-up of the projects that need Redis: finds or fetches it once, before the workers start, and tells them
// by environment where it is. Refuses with PartMissing, which says what a person can do.

import { findRedis } from "../../tools/parts/redis.ts";

export async function setup(): Promise<void> {
  const { server, module } = await findRedis(process.env);
  process.env.JSONPLANE_REDIS_SERVER = server;
  process.env.JSONPLANE_REJSON = module;
}
