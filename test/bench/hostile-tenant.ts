// How long a neighbour's deleted key works while one tenant does its worst: ten Projects whose
// users all get new passwords by one edit of a Secret, again and again, with new keys, refused
// specs and large schemas besides.

import { setTimeout as sleep } from "node:timers/promises";
import type { OwnFleet } from "../support/fleet/fleet.ts";
import { declared, newTenant, secretOf, type Tenant } from "../support/kubernetes/declared.ts";

export interface HostileOptions {
  readonly projects: number;
  /** Of each Project. */
  readonly users: number;
  /** How many of the neighbour's keys are deleted, one after the other. */
  readonly revokes: number;
}

const lookMs = 5;

/** Milliseconds from the DELETE of each of the neighbour's keys until every replica refuses it. */
export async function measureBesideHostile(fleet: OwnFleet, options: HostileOptions): Promise<readonly number[]> {
  const names = Array.from({ length: options.revokes }, (_, index) => `key-${index}`);
  const neighbour = await newTenant(fleet);
  await neighbour.create(
    declared("Project", "shop"),
    declared("RootKey", "flags", { key: "flags", initialValue: {}, access: { read: "Authenticated" } }),
    ...names.map((name) => declared("ApiKey", name)),
  );
  await fleet.ready(neighbour.namespace);
  const hostile = await newTenant(fleet);
  await hostile.create(...objectsOf(options));
  const stopping = new AbortController();
  const worst = doItsWorst(hostile, options, stopping.signal);
  const measured: number[] = [];
  for (const name of names) {
    await sleep(500);
    measured.push(await revoke(fleet, neighbour, name));
  }
  stopping.abort();
  await worst;
  return measured;
}

const passwordsOf = ({ users }: HostileOptions, round: number) =>
  Object.fromEntries(Array.from({ length: users }, (_, index) => [`user-${index}`, `password ${index} of ${round}`]));

function objectsOf(options: HostileOptions) {
  const projects = Array.from({ length: options.projects }, (_, index) => `p${index}`);
  return [
    secretOf("passwords", passwordsOf(options, 0)),
    ...projects.flatMap((name) => [
      declared("Project", name),
      ...Object.keys(passwordsOf(options, 0)).map((user) =>
        declared("ProjectUser", `${name}-${user}`, {
          projectRef: { name },
          username: user,
          passwordSecretRef: { name: "passwords", key: user },
        }),
      ),
    ]),
  ];
}

async function doItsWorst(tenant: Tenant, options: HostileOptions, stopped: AbortSignal): Promise<void> {
  for (let round = 1; !stopped.aborted; round += 1) {
    const project = `p${round % options.projects}`;
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`field${index}`, { type: "string", maxLength: 100 + index }]),
    );
    const spec = { projectRef: { name: project }, resourceName: `r${round}` };
    await tenant.patch("Secret", "passwords", { stringData: passwordsOf(options, round) });
    await tenant.create(
      ...Array.from({ length: 10 }, (_, index) =>
        declared("ApiKey", `k${round}-${index}`, { projectRef: { name: project } }),
      ),
      declared("ApiResource", `large-${round}`, { ...spec, schema: { type: "object", properties } }),
      declared("ApiResource", `refused-${round}`, { ...spec, schema: { type: "nothing" } }),
    );
    await sleep(500);
  }
}

async function revoke(fleet: OwnFleet, neighbour: Tenant, name: string): Promise<number> {
  const { namespace } = neighbour;
  const key = await fleet.secret(namespace, `${name}-api-key`, "apiKey");
  const started = performance.now();
  await neighbour.remove("ApiKey", name);
  await Promise.all(
    fleet.replicas.map(async (replica) => {
      const sent = { as: `apikey ${key}` };
      while ((await replica.send(`/${namespace}/shop/json/flags`, sent)).status !== 401) await sleep(lookMs);
    }),
  );
  return performance.now() - started;
}
