// Projects of a small team, published to a Redis as the operator does, and replicas that serve them: the program that is in the image, with
// its settings. Rejects when Redis can't be reached.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { ProjectParts } from "../../core/config/types.ts";
import { allocatorEnvironment } from "../../tools/image/jsonplane-image.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { type Replica, type ReplicaOptions, startReplica } from "../support/fleet/replica.ts";
import { project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { bookIndexes, bookSchema } from "./subjects.ts";

/** Of a key of each project, an administrator's. */
export const typicalKey = "reader";
/** What `npm run build` wrote; the npm scripts of these benchmarks do it first. */
const built = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export interface TypicalProjects {
  readonly redis: TestRedis;
  /** With the image's environment, unless another one is given. */
  startReplica(options: Pick<ReplicaOptions, "name" | "args" | "env">): Promise<Replica>;
  close(): Promise<void>;
}

/** The projects `p-0`, `p-1` … of the namespace `default`. */
export async function typicalProjects(count: number): Promise<TypicalProjects> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-bench-"));
  const redis = await startRedis();
  const keyringText = newKeyringText();
  const keyring = join(folder, "keyring.json");
  await writeFile(keyring, keyringText, { mode: 0o600 });
  const redisClient = await openRedisClient(redis.url);
  const publisher = await begunPublisher({ redisClient, keyring: parseKeyring(keyringText) });
  for (let index = 0; index < count; index += 1) await publisher.publish(typical(index));
  await publisher.complete();
  redisClient.disconnect();
  return {
    redis,
    startReplica: ({ name, args = [], env = allocatorEnvironment }) =>
      startReplica({
        redis: redis.url,
        keyring,
        name,
        args: ["--log-level", "warn", ...args],
        program: [built, "dataplane"],
        env,
      }),
    async close() {
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Two resources of seven fields with indexes, a root key, a user and a key: what a small team has. */
function typical(index: number): ProjectParts {
  return project(
    `p-${index}`,
    withKey(typicalKey, { role: "Administrators" }),
    withUser("ann"),
    withResource("books", { schema: bookSchema, indexes: bookIndexes }),
    withResource("notes", { schema: bookSchema, indexes: ["title"] }),
    withRootKey("flags"),
  );
}

/** Resident memory of a replica, by its own metrics. */
export async function residentBytes(replica: Replica): Promise<number> {
  const text = await fetch(`${replica.adminUrl}/metrics`).then((reply) => reply.text());
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
}
