// The real Redis with JSON that tests and benchmarks start: which program, and which module it has to load. Refuses with
// PartMissing when a part is neither here nor can be fetched.

import type { Environment } from "./cache.ts";
import { findRedisJson } from "./redis-json.ts";
import { findRedisServer } from "./redis-server.ts";

export interface RedisProgram {
  readonly server: string;
  /** Path of rejson.so. */
  readonly module: string;
}

export async function findRedis(env: Environment): Promise<RedisProgram> {
  const server = await findRedisServer(env);
  return { server, module: await findRedisJson(env, server) };
}
