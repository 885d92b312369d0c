// A schema that is live only when all stored objects meet it, while clients write by the former one
// through a replica that stands still, or is killed: then no stored object may break it.

import { digestOf } from "../../../core/config/canonical.ts";
import { objectChecks } from "../../../core/config/object-check.ts";
import type { CompiledProject, JsonObject, ResourceConfig } from "../../../core/config/types.ts";
import { storeScript } from "../../../dataplane/store/redis/store-script.ts";
import { type CheckOrders, createReplicaOrders } from "../../../operator/publish/replica-orders.ts";
import { apikey, project, withKey, withResource } from "../../support/http/projects.ts";
import { eventually } from "../../support/time/eventually.ts";
import type { Target } from "../ask.ts";
import { oneServer } from "../redis-deployments.ts";
import type { Scenario, Stage } from "../scenario.ts";
import { untilAllReplicas } from "../until-replicas.ts";
import { proxyOf, type WorldReplica } from "../world-replica.ts";

const ref = { namespace: "default", name: "ledger" };
const path = "/default/ledger/api/entries";
const as = apikey("ledger");
/** Several steps of a check; each time. */
const stored = 400;
const queued = 30;
const createScript = storeScript("objects/create-objects-n", "write");
/** A lock lasts ten seconds. */
const patience = { withinMs: 60_000, everyMs: 50 };

/** Of one generation: the next one has one of its two kinds, and another one. */
const schemaOf = (generation: number): JsonObject => ({
  type: "object",
  properties: { kind: { enum: [generation, generation + 1] } },
  required: ["kind"],
});

export const schemaChanges: Scenario = {
  name: "schema-change",
  does: "a new schema is checked before it is live, while a replica is paused with writes by the former one on their way and another one is killed, or the one that checks is killed; again and again",
  plan: { redis: oneServer("none"), replicas: 3, proxies: true },
  seconds: 40,
  async run(stage) {
    const { replicas, config } = stage.world;
    const orders = createReplicaOrders(config.redisClient, config.publisher, objectChecks);
    await publish(stage, { schema: schemaOf(1) }, replicas);
    for (let generation = 1; stage.left() > 0; generation += 1) {
      await fill(stage, generation);
      const stopWriting = keepWriting(stage, generation);
      try {
        await (generation % 2 === 1 ? pausedWriter : killedChecker)(stage, orders, generation);
      } finally {
        await stopWriting();
      }
      for (const replica of replicas) await expectNoneInvalid(stage, replica);
    }
  },
};

/** Another one is killed before the check, which takes that for a replica that has ended. */
async function pausedWriter(stage: Stage, orders: CheckOrders, generation: number): Promise<void> {
  const { world, history, random, asker } = stage;
  const paused = random.pick(world.replicas);
  const others = world.replicas.filter((replica) => replica !== paused);
  const proxy = proxyOf(paused);
  const holding = proxy.holdFrom(new RegExp(`${createScript.sha}[^]{1,45}${ref.name}/entries`));
  const writes = Array.from({ length: queued }, () =>
    asker.ask(paused, { method: "POST", path, as, body: { kind: generation } }),
  );
  await holding;
  paused.pause();
  history.fault(`${paused.name} stands still with a write on its way`);
  try {
    const killed = random.pick(others);
    const publishing = publish(stage, held(generation), others);
    await stage.pause(0, 300);
    history.fault(`kill -9 ${killed.name}`);
    await killed.kill();
    await killed.start();
    await publishing;
    await makeLive(stage, { orders, generation, others });
  } finally {
    proxy.release();
    await stage.pause(100);
    paused.resume();
  }
  await Promise.all(writes);
  await untilAllReplicas(stage, ({ revision }) => revision >= world.config.publisher.newest());
}

async function killedChecker(stage: Stage, orders: CheckOrders, generation: number): Promise<void> {
  const { world, history, random } = stage;
  await publish(stage, held(generation), world.replicas);
  const living = makeLive(stage, { orders, generation, others: world.replicas });
  // It waits three seconds before it checks.
  await stage.pause(2_500, 3_500);
  const killed = random.pick(world.replicas);
  history.fault(`kill -9 ${killed.name}`);
  await killed.kill();
  await killed.start();
  await living;
}

function held(generation: number): Partial<ResourceConfig> {
  return { schema: schemaOf(generation), nextSchema: schemaOf(generation + 1), nextSchemaBinds: true };
}

function parts(resource: Partial<ResourceConfig>): CompiledProject {
  return project(
    ref.name,
    withKey("ledger", { role: "Administrators" }),
    withResource("entries", { scope: { read: "All" }, ...resource }),
  );
}

async function publish(
  stage: Stage,
  resource: Partial<ResourceConfig>,
  replicas: readonly WorldReplica[],
): Promise<void> {
  const published = await stage.world.config.insist((publisher) => publisher.publish(parts(resource)));
  await untilAllReplicas(stage, ({ revision }) => revision >= published.revision, replicas);
}

interface Change {
  readonly orders: CheckOrders;
  readonly generation: number;
  /** Which run. */
  readonly others: readonly WorldReplica[];
}

/** Once every one of these holds writes to it. What breaks it is deleted, and it is tried again. */
async function makeLive(stage: Stage, { orders, generation, others }: Change): Promise<void> {
  const next = schemaOf(generation + 1);
  const { uid = "" } = parts({}).resources.get("entries") ?? {};
  for (let attempt = 1; ; attempt += 1) {
    await deleteInvalid(stage, others[0]);
    const id = `check:${generation}:${attempt}`;
    const order = {
      project: ref,
      resource: "entries",
      uid,
      schema: digestOf(next),
      stage: "final" as const,
      generation,
    } as const;
    await stage.world.config.insist(() => orders.order(id, order));
    const invalid = await eventually(async () => {
      const state = (await orders.statesOf([id])).get(id);
      if (state?.state !== "done") throw new Error(`${id} is ${state?.state}`);
      return state.result.invalid;
    }, patience);
    await orders.forget(id);
    if (invalid === 0) break;
  }
  await publish(stage, { schema: next }, others);
}

async function deleteInvalid(stage: Stage, at: Target | undefined): Promise<void> {
  if (at === undefined) return;
  for (;;) {
    const answer = await stage.asker.ask(at, { path: `${path}?_valid=false&_limit=100&_fields=kind`, as });
    if (answer.status !== 200) {
      await stage.pause(50);
      continue;
    }
    const { items } = JSON.parse(answer.text) as { readonly items: readonly { readonly id: string }[] };
    if (items.length === 0) return;
    const gone = items.map(({ id }) => stage.asker.ask(at, { method: "DELETE", path: `${path}/${id}`, as }));
    await Promise.all(gone);
  }
}

async function fill(stage: Stage, generation: number): Promise<void> {
  const [at] = stage.world.replicas;
  if (at === undefined) return;
  for (let n = 0; n < stored; n += 1) {
    const kind = n % 40 === 0 ? generation : generation + 1;
    await stage.asker.ask(at, { method: "POST", path, as, body: { kind } });
  }
}

/** By what both schemas allow, and what only the former one does. Returns how to end it. */
function keepWriting(stage: Stage, generation: number): () => Promise<void> {
  const { world, asker, random } = stage;
  const asked: Promise<unknown>[] = [];
  let stopped = false;
  const write = async (): Promise<void> => {
    while (!stopped) {
      const body = { kind: generation + (random.fraction() < 0.5 ? 0 : 1) };
      // A replica that stands still answers later.
      asked.push(asker.ask(random.pick(world.replicas), { method: "POST", path, as, body }));
      await stage.pause(10, 40);
    }
  };
  const writing = write();
  return async () => {
    stopped = true;
    await writing;
    await Promise.all(asked);
  };
}

/** A replica that just started may refuse. */
async function expectNoneInvalid({ asker, history }: Stage, replica: Target): Promise<void> {
  const answer = await asker.ask(replica, { path: `${path}?_valid=false&_limit=1`, as });
  if (answer.status !== 200) return;
  const { items } = JSON.parse(answer.text) as { readonly items: readonly unknown[] };
  if (items.length > 0)
    history.unexpected(`${replica.name} lists an object that breaks the live schema: ${answer.text}`);
}
