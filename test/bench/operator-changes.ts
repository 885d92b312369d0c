// What is changed while many Projects are loaded, and how many milliseconds that takes: a schema
// and a deleted key until both replicas have it, an emptied Redis, the end of a leader.

import { Redis } from "ioredis";
import { configKeys } from "../../core/config/config-keys.ts";
import type { JsonObject, ProjectRef } from "../../core/config/types.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { customTypes } from "../../operator/kube/objects.ts";
import type { Fleet, OwnFleet } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { until } from "./operator-figures.ts";

const lookMs = 5;

/** Makes a new field a required one, until replicas refuse an object without it. */
export async function changeSchema(api: KubeApi, fleet: Fleet, { namespace, name }: ProjectRef): Promise<number> {
  const key = await fleet.secret(namespace, `${name}-a-api-key`, "apiKey");
  const resource = await api.get(customTypes.ApiResource, { namespace, name: `${name}-books` });
  if (resource === undefined) throw new Error(`${namespace}/${name}-books is missing`);
  const spec = resource["spec"] as { readonly schema: JsonObject };
  const properties = { ...(spec.schema["properties"] as JsonObject), added: { type: "integer" } };
  const schema = { ...spec.schema, required: ["title", "added"], properties };
  const sent = { method: "POST", body: { title: "x" }, as: `apikey ${key}` };
  return await timed(async () => {
    await api.replace(customTypes.ApiResource, { ...resource, spec: { ...spec, schema } } as unknown as JsonObject);
    await untilAnswered(fleet, `/${namespace}/${name}/api/books`, sent, 400);
  });
}

/** Deletes the ApiKey, until replicas refuse the key. */
export async function revokeKey(api: KubeApi, fleet: Fleet, { namespace, name }: ProjectRef): Promise<number> {
  const key = await fleet.secret(namespace, `${name}-a-api-key`, "apiKey");
  const ref = { namespace, name: `${name}-a` };
  const found = await api.get(customTypes.ApiKey, ref);
  if (found === undefined) throw new Error(`${namespace}/${name}-a is missing`);
  return await timed(async () => {
    await api.remove(customTypes.ApiKey, ref, { uid: found.metadata.uid });
    await untilAnswered(fleet, `/${namespace}/${name}/json/flags`, { as: `apikey ${key}` }, 401);
  });
}

/** FLUSHALL, until all projects are back and their configuration is complete. */
export async function emptyRedis(fleet: OwnFleet): Promise<number> {
  const redis = new Redis(fleet.redis.url, { protocol: 2 });
  try {
    const projects = await redis.hlen(configKeys.projects);
    return await timed(async () => {
      await redis.flushall();
      await until(async () => {
        const complete = await redis.hget(configKeys.meta, "complete");
        return complete !== null && (await redis.hlen(configKeys.projects)) === projects;
      }, lookMs);
    });
  } finally {
    redis.disconnect();
  }
}

/** Ends the leader, until a standby whose caches are complete leads. */
export async function endLeader(
  fleet: OwnFleet,
  addOperator: () => Promise<OperatorProcess>,
  signal: "SIGTERM" | "SIGKILL",
): Promise<number> {
  const standby = await addOperator();
  const others = fleet.operators.filter((operator) => operator !== standby);
  return await timed(async () => {
    await Promise.all(others.map((operator) => operator.stop(signal)));
    await until(() => standby.leads(), 50);
  });
}

async function untilAnswered(
  fleet: Fleet,
  path: string,
  sent: Parameters<Fleet["replicas"][number]["send"]>[1],
  status: number,
): Promise<void> {
  await Promise.all(
    fleet.replicas.map((replica) => until(async () => (await replica.send(path, sent)).status === status, lookMs)),
  );
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
