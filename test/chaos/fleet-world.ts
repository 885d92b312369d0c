// What replicas of a fleet serve: the project is declared on a real API server, a real operator
// publishes it, and keys are what the operator made.

import { createHash } from "node:crypto";
import { credentialsKey } from "../../core/config/config-keys.ts";
import { keyField } from "../../core/config/fields.ts";
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
import type { Closers, FleetControl, Served, WorldPlan } from "./world.ts";

const project = { namespace: "default", name: "shop" };
const patience = { withinMs: 60_000, everyMs: 100 };

/** With a real API server and operator. */
export async function declareShop(_plan: WorldPlan, _dir: string, closers: Closers): Promise<Served> {
  const args = ["--appendonly", "yes", "--appendfsync", "everysec"];
  const fleet = await startFleet({ replicas: 0, redis: { args }, operatorArgs: ["--lease-duration", "3s"] });
  closers.push(() => fleet.stop());
  const tenant = tenantAt(fleet, project.namespace);
  await declareObjects(tenant);
  await eventually(() => fleet.mountKeyring(), patience);
  const redis = { url: fleet.redis.url, server: fleet.redis, stop: async () => undefined };
  return {
    redis,
    ringFile: fleet.keyring,
    async ready() {
      await fleet.ready(project.namespace, 60);
      const redisClient = await openRedisClient(redis.url);
      closers.push(async () => redisClient.disconnect());
      const control = controlOf({ fleet, tenant, redisClient, closers });
      const keyFor = async (name: string): Promise<string> => `apikey ${await keyOf(fleet, name)}`;
      return {
        config: noConfig,
        credentials: { worker: await keyFor("worker"), victim: await keyFor(victim) },
        fleet: control,
        withdrawVictim: () => control.withdrawKey(victim),
        mountKeyring: () => Promise.reject(new Error("The operator keeps the ring of a fleet")),
      };
    },
  };
}

async function declareObjects(tenant: Tenant): Promise<void> {
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
  readonly closers: Closers;
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
