// What a revoked key, one changed user among many, an emptied Redis and the end of a leader cost, with everything loaded.

import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { configKeys } from "../../core/config/config-keys.ts";
import type { JsonObject, ProjectRef } from "../../core/config/types.ts";
import { apiVersion } from "../../core/manifests/object.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { customTypes } from "../../operator/kube/resource-types.ts";
import type { OwnFleet } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { monitorRedis } from "../support/redis/monitor-redis.ts";
import type { TestRedis } from "../support/redis/redis.ts";

export interface Upheaval {
  readonly api: KubeApi;
  readonly fleet: OwnFleet;
  /** Starts one more operator of the fleet. */
  readonly addOperator: () => Promise<OperatorProcess>;
}

const lookMs = 5;
const atOnce = 16;
/** Once Redis has carried out ECHO of this text, all that was sent before has been carried out. */
const afterwards = "after-the-change";

/** Milliseconds from the DELETE of an ApiKey until both replicas refuse it, for each of the places. */
export async function measureRevokes(
  { api, fleet }: Upheaval,
  places: readonly ProjectRef[],
): Promise<readonly number[]> {
  const measured: number[] = [];
  for (const { namespace, name } of places) {
    const key = await fleet.secret(namespace, `${name}-a-api-key`, "apiKey");
    const path = `/${namespace}/${name}/json/flags`;
    const ref = { namespace, name: `${name}-a` };
    const { metadata } = (await api.get(customTypes.ApiKey, ref)) ?? {};
    if (metadata === undefined) throw new Error(`${namespace}/${name}-a is gone`);
    const started = performance.now();
    await api.remove(customTypes.ApiKey, ref, { uid: metadata.uid });
    await Promise.all(
      fleet.replicas.map((replica) =>
        until(async () => (await replica.send(path, { as: `apikey ${key}` })).status === 401),
      ),
    );
    measured.push(performance.now() - started);
  }
  return measured;
}

/** Bytes of the commands that name the project, from clients, while one user of a project with so many credentials changes. */
export async function measureOneUser({ api, fleet }: Upheaval, credentials: number): Promise<number> {
  const namespace = "bench-0";
  const name = "crowd";
  await api.create(customTypes.Project, object("Project", namespace, name, {}));
  await api.create(
    customTypes.ProjectUser,
    object("ProjectUser", namespace, `${name}-ann`, { projectRef: { name }, access: "Read" }),
  );
  let next = 1;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let index = next++; index < credentials; index = next++) {
        await api.create(customTypes.ApiKey, object("ApiKey", namespace, `${name}-${index}`, { projectRef: { name } }));
      }
    }),
  );
  const redis = new Redis(fleet.redis.url, { protocol: 2 });
  try {
    const fields = `{jsonplane}:credentials:${namespace}/${name}`;
    await until(async () => (await redis.hlen(fields)) === credentials);
    await untilProgrammed(api, { namespace, name: `${name}-ann` });
    return await bytesOfCommands(fleet.redis, `${namespace}/${name}`, async () => {
      const user = await api.get(customTypes.ProjectUser, { namespace, name: `${name}-ann` });
      const spec = { ...(user?.["spec"] as JsonObject), access: "Write" };
      await api.replace(customTypes.ProjectUser, { ...user, spec } as unknown as JsonObject);
      await untilProgrammed(api, { namespace, name: `${name}-ann` });
    });
  } finally {
    redis.disconnect();
  }
}

/** Milliseconds from FLUSHALL until all projects are back and said to be complete. */
export async function measureEmptied({ fleet }: Upheaval): Promise<number> {
  const redis = new Redis(fleet.redis.url, { protocol: 2 });
  try {
    const projects = await redis.hlen(configKeys.projects);
    const started = performance.now();
    await redis.flushall();
    await until(async () => {
      const [count, complete] = await Promise.all([
        redis.hlen(configKeys.projects),
        redis.hget(configKeys.meta, "complete"),
      ]);
      return count === projects && complete !== null;
    });
    return performance.now() - started;
  } finally {
    redis.disconnect();
  }
}

/** Milliseconds from the end of the leader until the standby, whose caches are complete, leads. */
export async function measureFailover(
  { fleet, addOperator }: Upheaval,
  signal: "SIGTERM" | "SIGKILL",
): Promise<number> {
  const standby = await addOperator();
  const before = fleet.operators.filter((operator) => operator !== standby);
  const started = performance.now();
  await Promise.all(before.map((operator) => operator.stop(signal)));
  await until(() => standby.leads(), 50);
  return performance.now() - started;
}

async function until(holds: () => Promise<boolean>, everyMs = lookMs): Promise<void> {
  while (!(await holds())) await sleep(everyMs);
}

async function untilProgrammed(api: KubeApi, ref: ProjectRef): Promise<void> {
  await until(async () => {
    const user = await api.get(customTypes.ProjectUser, ref);
    const { conditions = [] } = (user?.["status"] ?? {}) as {
      conditions?: readonly { type: string; status: string; observedGeneration: number }[];
    };
    return conditions.some(
      ({ type, status, observedGeneration }) =>
        type === "Programmed" && status === "True" && observedGeneration === user?.metadata.generation,
    );
  }, 25);
}

/** Whatever else Redis receives meanwhile, such as heartbeats and what other projects report, is left out. */
async function bytesOfCommands({ port }: TestRedis, names: string, work: () => Promise<void>): Promise<number> {
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const monitor = await monitorRedis(port, ({ args, source }) => {
    if (args.includes(afterwards)) resolve();
    if (source === "lua" || !args.some((part) => part.includes(names))) return;
    for (const part of args) bytes += Buffer.byteLength(part);
  });
  try {
    await work();
    await askRedis(port, `ECHO ${afterwards}`);
    await seen;
    return bytes;
  } finally {
    monitor.stop();
  }
}

function object(kind: string, namespace: string, name: string, spec: JsonObject): JsonObject {
  return { apiVersion, kind, metadata: { namespace, name }, spec };
}
