// The benchmarks' projects as a replica has them in production: published to Redis by the
// operator's publisher, sealed with a key ring, and followed from there.

import { randomUUID } from "node:crypto";
import { systemClock } from "../../core/clock.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import { followKeyring } from "../../dataplane/config/follow-keyring.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";

export async function followPublished(url: string, projects: readonly CompiledProject[]): Promise<FollowedConfig> {
  const redisClient = await openRedisClient(url);
  const text = newKeyringText();
  const publisher = await begunPublisher({ redisClient, keyring: parseKeyring(text) });
  for (const parts of projects) await publisher.publish(parts);
  await publisher.complete();
  const onRefused = (error: unknown): never => {
    throw error;
  };
  const keyring = await followKeyring({ read: async () => text, onRefused });
  return await openRedisDirectory({ url, keyring, clock: systemClock, replica: randomUUID() });
}
