// The benchmarks' projects as a replica has them in production: published to Redis by the
// operator's publisher, sealed with a key ring, and followed from there.

import { randomUUID } from "node:crypto";
import { systemClock } from "../../core/clock.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import { followKeyring } from "../../dataplane/config/follow-keyring.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";

/** A server that gives the `keyring` of another one follows what that one has published. */
export async function followPublished(
  url: string,
  projects: readonly CompiledProject[],
  keyring = "",
): Promise<FollowedConfig & { readonly keyring: string }> {
  const text = keyring || newKeyringText();
  if (keyring === "") await publish(url, projects, text);
  const onRefused = (error: unknown): never => {
    throw error;
  };
  const followed = await followKeyring({ read: async () => text, onRefused });
  const config = await openRedisDirectory({ url, keyring: followed, clock: systemClock, replica: randomUUID() });
  return { ...config, keyring: text };
}

async function publish(url: string, projects: readonly CompiledProject[], keyring: string): Promise<void> {
  const redisClient = await openRedisClient(url);
  const publisher = await begunPublisher({ redisClient, keyring: parseKeyring(keyring) });
  for (const each of projects) await publisher.publish(each);
  await publisher.complete();
}
