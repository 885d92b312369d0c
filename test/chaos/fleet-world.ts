// The same world with a real API server and a real operator: the project is declared, keys are what
// the operator minted. Replicas' wall clocks can be moved.

import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentialsKey } from "../../core/config/config-keys.ts";
import { keyField } from "../../core/config/fields.ts";
import { parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { openRedisClient } from "../support/fleet/publishing.ts";
import { passwordOf } from "../support/http/projects.ts";
import { declared, secretOf, type Tenant, tenantAt } from "../support/kubernetes/declared.ts";
import { kubeconfigThrough } from "../support/kubernetes/kubeconfig-through.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { eventually } from "../support/time/eventually.ts";
import type { MaintainedConfig } from "./maintained-config.ts";
import { emptyLists, emptyRegisters, itemsSchema, shelfSchema, user, victim } from "./project.ts";
import type { FleetControl, World } from "./world.ts";
import { openReplica, type WorldReplica } from "./world-replica.ts";

const project = { namespace: "default", name: "shop" };
const patience = { withinMs: 60_000, everyMs: 100 };

export async function openFleetWorld(): Promise<World> {
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return await open(closers, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(closers: (() => Promise<unknown>)[], stop: () => Promise<void>): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-chaos-"));
  closers.push(() => rm(dir, { recursive: true, force: true }));
  const args = ["--appendonly", "yes", "--appendfsync", "everysec"];
  const fleet = await startFleet({ replicas: 0, redis: { args }, operatorArgs: ["--lease-duration", "3s"] });
  closers.push(() => fleet.stop());
  const tenant = tenantAt(fleet, project.namespace);
  await declareShop(tenant);
  await eventually(() => fleet.mountKeyring(), patience);
  const redis = { url: fleet.redis.url, server: fleet.redis, stop: async () => undefined };
  const plan = { shiftedClocks: true };
  const replicas: WorldReplica[] = [];
  closers.push(() => Promise.all(replicas.map((replica) => replica.kill())));
  for (const name of ["r1", "r2"]) {
    replicas.push(await openReplica({ name, dir, ringFile: fleet.keyring, plan, redis, closers }));
  }
  await fleet.ready(project.namespace, 60);
  const keys = { worker: await keyOf(fleet, "worker"), victim: await keyOf(fleet, victim) };
  const redisClient = await openRedisClient(redis.url);
  closers.push(async () => redisClient.disconnect());
  const control = controlOf({ fleet, tenant, redisClient, closers });
  return {
    redis,
    replicas,
    config: noConfig,
    credentials: { worker: `apikey ${keys.worker}`, victim: `apikey ${keys.victim}` },
    keyring: parseKeyring(await readFile(fleet.keyring, "utf8")),
    fleet: control,
    withdrawVictim: () => control.withdrawKey(victim),
    mountKeyring: () => Promise.reject(new Error("The operator keeps the ring of a fleet")),
    stop,
  };
}

async function declareShop(tenant: Tenant): Promise<void> {
  // As items() and shelf() in project.ts: entries by owner are kept, and asked for, only where a
  // scope says Own.
  const own = { scope: { read: "Own", write: "Own" } };
  const all = { scope: { read: "All", write: "All" } };
  await tenant.create(
    declared("Project", "shop"),
    secretOf("ann-chosen", { password: passwordOf(user) }),
    declared("ProjectUser", user, {
      role: "Users",
      access: "Write",
      passwordSecretRef: { name: "ann-chosen", key: "password" },
    }),
    declared("ApiKey", "worker", { role: "Administrators", access: "Write" }),
    declared("ApiKey", victim, { role: "Administrators", access: "Write" }),
    declared("ApiResource", "items", { access: own, schema: itemsSchema, indexes: ["key", "n"] }),
    declared("ApiResource", "shelf", { access: all, schema: shelfSchema, indexes: ["rank"] }),
    declared("RootKey", "registers", { initialValue: emptyRegisters }),
    declared("RootKey", "log", { initialValue: emptyLists }),
  );
}

async function keyOf(fleet: OwnFleet, name: string): Promise<string> {
  return await fleet.secret(project.namespace, `${name}-api-key`, "apiKey");
}

interface ControlParts {
  readonly fleet: OwnFleet;
  readonly tenant: Tenant;
  readonly redisClient: RedisClient;
  readonly closers: (() => Promise<unknown>)[];
}

function controlOf({ fleet, tenant, redisClient, closers }: ControlParts): FleetControl {
  return {
    tenant,
    async killOperator() {
      await Promise.all(fleet.operators.splice(0).map((operator) => operator.stop("SIGKILL")));
    },
    async startOperator() {
      await fleet.addOperator();
    },
    async addStandby() {
      const proxy = await startTcpProxy(Number(new URL(fleet.api.url).port));
      closers.push(() => proxy.stop());
      const kubeconfig = await kubeconfigThrough(await fleet.api.kubeconfig(), proxy.port);
      const operator = await fleet.addOperator({ kubeconfig });
      return {
        goDeaf: () => proxy.abandon(),
        hasTakenOver: async () => (await operator.leads()) && operator.log().includes("All Projects are published"),
      };
    },
    async killLeader() {
      const leads = await Promise.all(fleet.operators.map((operator) => operator.leads()));
      const [leader] = fleet.operators.splice(leads.indexOf(true), leads.includes(true) ? 1 : 0);
      await leader?.stop("SIGKILL");
    },
    async makeKey(name) {
      await tenant.create(declared("ApiKey", name, { role: "Administrators", access: "Write" }));
      await tenant.reports("ApiKey", name, "Ready");
      return `apikey ${await keyOf(fleet, name)}`;
    },
    async withdrawKey(name) {
      const field = keyField(
        createHash("sha256")
          .update(await keyOf(fleet, name))
          .digest("hex"),
      );
      await tenant.remove("ApiKey", name);
      const key = credentialsKey(project);
      await eventually(async () => {
        if ((await redisClient.read(key, "HEXISTS", key, field)) !== 0) throw new Error("The key is still published");
      }, patience);
    },
  };
}

const refuse = (): never => {
  throw new Error("In a fleet the operator publishes, and nobody else");
};

const noConfig: MaintainedConfig = {
  get redisClient(): never {
    return refuse();
  },
  get publisher(): never {
    return refuse();
  },
  parts: refuse,
  change: refuse,
  insist: refuse,
  pause: refuse,
  resume: refuse,
  stop: refuse,
};
