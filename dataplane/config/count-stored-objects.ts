// Counts the objects of each published project, for metrics and statuses. One replica at a time
// passes over all projects, a few at once, and writes what changed. Nothing is kept between two
// passes, so that any replica can make the next one. A project that can't be counted keeps its last
// figure.

import { randomUUID } from "node:crypto";
import { countingLockKey, keyOfProject, projectConfigKey, storedObjectsKey } from "../../core/config/config-keys.ts";
import { resourceNameIn } from "../../core/config/fields.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf, textsOf } from "../../core/redis/reply.ts";
import { pauseUnlessAborted, repeatedly, systemTimers } from "../../core/timers.ts";
import type { Sizes } from "../store/ports/sizes.ts";
import type { Directory } from "./directory.ts";
import { createFiguresWriter, type FiguresWriter } from "./report-usage.ts";

export interface CountStoredObjectsDeps {
  readonly redisClient: RedisClient;
  readonly store: Pick<Sizes, "collectionSize">;
  readonly directory: Pick<Directory, "projects" | "synced">;
  /** Called once for a pass in which projects could not be counted, with one of the errors. */
  readonly onFailed: (failure: CountingFailure) => void;
  /** After a pass, until any replica begins the next one, 30,000 by default. */
  readonly restMs?: number;
}

export interface CountingFailure {
  /** How many projects keep their former figures; undefined if the pass was aborted. */
  readonly projects: number | undefined;
  readonly error: unknown;
}

const usualRestMs = 30_000;
/** Projects counted at once, and the pause after them: 10,000 take half a minute. */
const atOnce = 50;
const pauseMs = 100;
/** Figures outlive an update of all replicas, and not the replicas. */
const expirySeconds = 600;

/** Counts again and again until it is stopped. */
export function countStoredObjects(deps: CountStoredObjectsDeps): { stop(): Promise<void> } {
  const { restMs = usualRestMs, onFailed } = deps;
  const figures = createFiguresWriter(deps.redisClient);
  // Short enough that another replica takes over soon after one stops.
  const betweenMs = restMs / 4;
  const work = async (signal: AbortSignal): Promise<number> => {
    const failure = await tryPass({ ...deps, restMs, figures, signal }).catch((error: unknown) => ({
      projects: undefined,
      error,
    }));
    if (failure !== undefined && !signal.aborted) onFailed(failure);
    return failure === undefined ? betweenMs : restMs;
  };
  return repeatedly(systemTimers, work, betweenMs);
}

interface PassDeps extends CountStoredObjectsDeps {
  readonly restMs: number;
  readonly figures: FiguresWriter;
  readonly signal: AbortSignal;
}

/** A pass, unless another replica makes it or made it just now. */
async function tryPass(deps: PassDeps): Promise<CountingFailure | undefined> {
  const { redisClient, directory, restMs } = deps;
  // An incomplete list of projects would make the others look deleted.
  if (!directory.synced()) return undefined;
  const lock = [countingLockKey, randomUUID(), "NX", "PX", restMs] as const;
  // Counting twice is wasteful but not wrong, so the lock has no owner check and simply expires.
  if ((await redisClient.write(countingLockKey, "SET", ...lock)) === null) return undefined;
  return await pass(deps);
}

async function pass({ redisClient, store, directory, restMs, figures, signal }: PassDeps) {
  const former = fieldsOf(await redisClient.read(storedObjectsKey, "HGETALL", storedObjectsKey));
  const projects = directory.projects();
  const names = new Set(projects.map(keyOfProject));
  const gone = [...former.keys()].filter((name) => !names.has(name));
  const failures: unknown[] = [];
  await figures.write(storedObjectsKey, { gone, changed: [], expirySeconds });
  for (let from = 0; from < projects.length && !signal.aborted; from += atOnce) {
    const some = projects.slice(from, from + atOnce);
    const counted = await Promise.allSettled(some.map((project) => countOf(project, redisClient, store)));
    const failed = counted.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    failures.push(...failed);
    // So many at once: Redis is away, and not only a node of a Cluster.
    if (failed.length === atOnce) break;
    const counts = counted.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const changed = counts.filter(([name, count]) => former.get(name) !== count);
    if (changed.length > 0) await figures.write(storedObjectsKey, { gone: [], changed, expirySeconds });
    await redisClient.write(countingLockKey, "PEXPIRE", countingLockKey, restMs);
    if (from + atOnce < projects.length) await pauseUnlessAborted(systemTimers, pauseMs, signal);
  }
  return failures.length === 0 ? undefined : { projects: failures.length, error: failures[0] };
}

/** Names of resources are no secret in Redis, so that no project is loaded for its count. */
async function countOf(
  project: ProjectRef,
  redisClient: RedisClient,
  store: CountStoredObjectsDeps["store"],
): Promise<readonly [name: string, count: string]> {
  const key = projectConfigKey(project);
  const fields = textsOf(await redisClient.read(key, "HKEYS", key));
  const resources = fields.map(resourceNameIn).filter((name) => name !== undefined);
  const sizes = await Promise.all(resources.map((resource) => store.collectionSize({ project, resource })));
  return [keyOfProject(project), String(sizes.reduce((sum, { objects }) => sum + objects, 0))];
}
