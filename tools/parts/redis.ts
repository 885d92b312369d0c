// The real Redis with JSON that tests and benchmarks start: which program, and which module it has
// to load. Throws PartMissing when one isn't there.

import type { Environment } from "./cache.ts";
import { requirePart } from "./part.ts";
import { redisJson } from "./redis-json.ts";
import { redisServer } from "./redis-server.ts";

export interface RedisProgram {
  readonly server: string;
  /** Path of rejson.so. */
  readonly module: string;
}

export async function findRedis(env: Environment): Promise<RedisProgram> {
  return { server: await requirePart(env, redisServer), module: await requirePart(env, redisJson) };
}
