// The benchmarks' projects as a replica has them in production: published to Redis, sealed with a key ring, by the operator's publisher, and
// followed from there. Rejects when Redis can't be reached.

import { randomUUID } from "node:crypto";
import { systemClock } from "../../core/clock.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { ProjectParts } from "../../core/config/types.ts";
import { optionalText, textOf } from "../../core/redis/reply.ts";
import { followKeyring } from "../../dataplane/config/follow-keyring.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";

export interface PublishedProjects {
  readonly config: FollowedConfig;
  /** Publishes another version of a project. */
  publish(parts: ProjectParts): Promise<void>;
}

/** Replicas on one Redis have the same key ring. */
const ringKey = "{bench}:keyring";

export async function publishedProjects(url: string, projects: readonly ProjectParts[]): Promise<PublishedProjects> {
  const redisClient = await openRedisClient(url);
  await redisClient.write(ringKey, "SET", ringKey, newKeyringText(), "NX");
  const text = textOf(optionalText(await redisClient.read(ringKey, "GET", ringKey)));
  const publisher = await begunPublisher({ redisClient, keyring: parseKeyring(text) });
  const publish = async (parts: ProjectParts): Promise<void> => {
    await publisher.publish(parts);
  };
  for (const parts of projects) await publish(parts);
  await publisher.complete();
  const keyring = await followKeyring({ read: async () => text, onRefused: reject });
  const config = await openRedisDirectory({ url, keyring, clock: systemClock, replica: randomUUID() });
  return { config, publish };
}

function reject(error: unknown): never {
  throw error;
}
