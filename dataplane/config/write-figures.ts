// Writes figures of projects for the operator, into a hash that expires unless it is written again.

import type { RedisClient } from "../../core/redis/redis-client.ts";
import { listOf, numberOf } from "../../core/redis/reply.ts";
import { loadScript } from "../../core/redis/script.ts";

export interface Figures {
  /** Projects that no longer have any. */
  readonly gone: readonly string[];
  /** Names of projects with the texts that they have now. */
  readonly changed: readonly (readonly [name: string, text: string])[];
  readonly expirySeconds: number;
}

export interface FiguresWriter {
  /** False where nothing was there before: Redis was emptied, or it has expired. Without changes the hash lives on. */
  write(key: string, figures: Figures): Promise<boolean>;
}

export function createFiguresWriter(redisClient: RedisClient): FiguresWriter {
  const script = loadScript(new URL("./scripts/", import.meta.url), "write-figures-1", "write");
  return {
    async write(key, { gone, changed, expirySeconds }) {
      const args = [expirySeconds, gone.length, ...gone, ...changed.flat()];
      const [, wasThere] = listOf(await redisClient.run(script, [key], args));
      return numberOf(wasThere) === 1;
    },
  };
}
