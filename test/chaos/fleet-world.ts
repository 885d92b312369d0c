// The same world with a real API server and a real operator: the project is declared, keys are what the operator minted. Replicas'
// wall clocks can be moved.

import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentialsKey } from "../../core/config/config-keys.ts";
import { keyField } from "../../core/config/fields.ts";
import { parseKeyring } from "../../core/config/keyring.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { openGateway } from "../support/fleet/publishing.ts";
import { passwordOf } from "../support/http/projects.ts";
import { declared, type Place, placeAt, secretOf } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import type { ConfigKeeper } from "./config-keeper.ts";
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
  const place = placeAt(fleet, project.namespace);
  await declareShop(place);
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
  const gateway = await openGateway(redis.url);
  closers.push(async () => gateway.disconnect());
  return {
    redis,
    replicas,
    config: noKeeper,
    credentials: { worker: `apikey ${keys.worker}`, victim: `apikey ${keys.victim}` },
    keyring: parseKeyring(await readFile(fleet.keyring, "utf8")),
    fleet: controlOf(fleet, place),
    async withdrawVictim() {
      await place.remove("ApiKey", victim);
      const key = credentialsKey(project);
      const field = keyField(createHash("sha256").update(keys.victim).digest("hex"));
      await eventually(async () => {
        if ((await gateway.read(key, "HEXISTS", key, field)) !== 0) throw new Error("The key is still published");
      }, patience);
    },
    mountKeyring: () => Promise.reject(new Error("The operator keeps the ring of a fleet")),
    stop,
  };
}

async function declareShop(place: Place): Promise<void> {
  const access = { scope: { read: "All", write: "All" } };
  await place.create(
    declared("Project", "shop"),
    secretOf("ann-chosen", { password: passwordOf(user) }),
    declared("ProjectUser", user, {
      role: "Users",
      access: "Write",
      passwordSecretRef: { name: "ann-chosen", key: "password" },
    }),
    declared("ApiKey", "worker", { role: "Administrators", access: "Write" }),
    declared("ApiKey", victim, { role: "Administrators", access: "Write" }),
    declared("ApiResource", "items", { access, schema: itemsSchema, indexes: ["key", "n"] }),
    declared("ApiResource", "shelf", { access, schema: shelfSchema, indexes: ["rank"] }),
    declared("RootKey", "registers", { initialValue: emptyRegisters }),
    declared("RootKey", "log", { initialValue: emptyLists }),
  );
}

async function keyOf(fleet: OwnFleet, name: string): Promise<string> {
  return await fleet.secret(project.namespace, `${name}-api-key`, "apiKey");
}

function controlOf(fleet: OwnFleet, place: Place): FleetControl {
  return {
    place,
    async killOperator() {
      await Promise.all(fleet.operators.splice(0).map((operator) => operator.stop("SIGKILL")));
    },
    async startOperator() {
      await fleet.addOperator();
    },
  };
}

const refuse = (): never => {
  throw new Error("In a fleet the operator publishes, and nobody else");
};

const noKeeper: ConfigKeeper = {
  get gateway(): never {
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
