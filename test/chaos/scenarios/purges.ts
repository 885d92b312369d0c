// A project that is deleted with its data and made again, again and again, while a replica stands
// still somewhere in the purge: what it does when it goes on comes late.

import type { PurgeOrder } from "../../../core/config/purge-order.ts";
import type { CompiledProject } from "../../../core/config/types.ts";
import type { Script } from "../../../core/redis/script.ts";
import { freeingScript } from "../../../dataplane/store/redis/store-script.ts";
import { createPurges, type Purges } from "../../../operator/publish/purges.ts";
import {
  apikey,
  basic,
  project,
  withConfig,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../../support/http/projects.ts";
import { openRedisStore } from "../../support/redis/open-store.ts";
import { fillCollection, objectOf } from "../../support/store/stored-objects.ts";
import { eventually } from "../../support/time/eventually.ts";
import type { Asked, Target } from "../ask.ts";
import { user } from "../project.ts";
import { oneServer } from "../redis-deployments.ts";
import type { Scenario, Stage } from "../scenario.ts";
import { untilAllReplicas } from "../until-replicas.ts";
import { proxyOf, type WorldReplica } from "../world-replica.ts";

const ref = { namespace: "default", name: "tenant" };
const base = "/default/tenant";
const as = apikey("tenant");
/**
 * Of each life, in addition to what is written over HTTP: so many that a purge takes several steps.
 */
const filling = 500;
/** A lock lasts five seconds. */
const patience = { withinMs: 30_000, everyMs: 50 };

/** What one life of the project was told to hold. */
interface Life {
  readonly ids: readonly string[];
  readonly flags: string;
  readonly sessions: readonly { readonly session_id: string; readonly access_token: string }[];
}

export const pausedPurge: Scenario = {
  name: "purge-pause",
  does: "a project is deleted with its data, the replica that purges them is paused (SIGSTOP) with a step on its way to Redis, the other one finishes, the project is created again and written to, and then the step arrives and the first replica continues; again and again",
  plan: { redis: oneServer("none"), proxies: true },
  seconds: 30,
  async run(stage) {
    const { config, replicas } = stage.world;
    const purges = createPurges(config.redisClient, config.publisher);
    // A replica that stood still asks no second time: a script that Redis does not know yet would
    // never run late.
    for (const { lua } of steps) await config.redisClient.write("", "SCRIPT", "LOAD", lua);
    let number = 1;
    await publish(stage, number, replicas);
    let life = await live(stage, number, replicas);
    for (const step of withPermit(steps)) {
      await fill(stage);
      await untilAllReplicas(stage, await withdrawn(stage));
      const { paused, goOn } = await purgeWithPause(stage, { purges, number, step });
      try {
        const others = replicas.filter((replica) => replica !== paused);
        number += 1;
        await publish(stage, number, others);
        const former = life;
        life = await live(stage, number, others);
        goOn();
        await stage.pause(500, 1_500);
        await untilAllReplicas(stage, ({ revision }) => revision >= config.publisher.newest());
        for (const replica of replicas) await check(stage, replica, { life, former });
      } finally {
        goOn();
      }
      if (stage.left() === 0) return;
    }
  },
};

function* withPermit<T>(list: readonly T[]): Generator<T> {
  for (;;) yield* list;
}

interface PausedPurge {
  readonly purges: Purges;
  readonly number: number;
  readonly step: Script;
}

interface StoodStill {
  /** Absent where the purge was done without that step. */
  readonly paused: WorldReplica | undefined;
  goOn(): void;
}

/**
 * Purges this life, and returns when that is done, with the replica that began it standing still
 * and its step on its way.
 */
async function purgeWithPause(stage: Stage, { purges, number, step }: PausedPurge): Promise<StoodStill> {
  const holding = holdStep(stage, step);
  const ids = await order(purges, number);
  const paused = await Promise.race([holding, untilDone(purges, ids)]);
  paused?.pause();
  const goOn = (): void => {
    for (const replica of stage.world.replicas) proxyOf(replica).release();
    paused?.resume();
  };
  try {
    // What is sent from now on is none of this purge.
    if (paused === undefined) goOn();
    await untilDone(purges, ids);
    for (const id of ids) await purges.forget(id);
    return { paused, goOn };
  } catch (error) {
    goOn();
    throw error;
  }
}

async function untilDone(purges: Purges, ids: readonly string[]): Promise<undefined> {
  for (const id of ids) {
    await eventually(async () => {
      if (!(await purges.isDone(id))) throw new Error(`${id} is not done`);
    }, patience);
  }
  return undefined;
}

function parts(number: number): CompiledProject {
  return project(
    ref.name,
    withConfig({ uid: `tenant ${number}` }),
    withUser(user),
    withKey("tenant", { role: "Administrators" }),
    withResource("books", { scope: { read: "All", write: "All" }, indexes: ["n"] }),
    withRootKey("flags"),
  );
}

async function publish(stage: Stage, number: number, replicas: Stage["world"]["replicas"]): Promise<void> {
  const published = await stage.world.config.insist((publisher) => publisher.publish(parts(number)));
  await untilAllReplicas(stage, ({ revision }) => revision >= published.revision, replicas);
}

async function withdrawn({ world }: Stage): Promise<(state: { readonly revision: number }) => boolean> {
  const { revision } = await world.config.insist((publisher) => publisher.withdraw(ref));
  return (state) => state.revision >= revision;
}

/** Everything that this life holds, by what was acknowledged. */
async function live(stage: Stage, number: number, replicas: readonly Target[]): Promise<Life> {
  const send = async <T>(asked: Asked): Promise<T> => {
    const answer = await stage.asker.ask(stage.random.pick(replicas), { as, ...asked, path: `${base}${asked.path}` });
    if (answer.status !== 201) throw new Error(`${asked.path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text) as T;
  };
  const ids: string[] = [];
  for (let n = 0; n < 8; n += 1) {
    const { id } = await send<{ id: string }>({ method: "POST", path: "/api/books", body: { n, life: number } });
    ids.push(id);
  }
  const flags = JSON.stringify({ life: number });
  await send({ method: "PUT", path: "/json/flags/life", body: number });
  const sessions: Life["sessions"][number][] = [];
  for (let n = 0; n < 2; n += 1) sessions.push(await send({ method: "POST", path: "/sessions/", as: basic(user) }));
  return { ids, flags, sessions };
}

async function fill({ world }: Stage): Promise<void> {
  const store = await openRedisStore({ url: world.redis.url });
  try {
    const create: typeof store.create = (collection, object) => store.create(collection, object, 2 * filling);
    const numbered = (n: number) => objectOf(n, { n: `${n}` }, "apikey:tenant");
    await fillCollection({ create }, { project: ref, resource: "books" }, filling, numbered);
  } finally {
    await store.close();
  }
}

async function order(purges: Purges, number: number): Promise<readonly string[]> {
  const orders: readonly PurgeOrder[] = [
    { what: "resource", project: ref, name: "books" },
    { what: "rootkey", project: ref, name: "flags" },
    { what: "sessions", project: ref, projectUid: `tenant ${number}` },
  ];
  const ids = orders.map(({ what }) => `${what} ${number}`);
  for (const [at, each] of orders.entries()) await purges.order(ids[at] ?? "", each);
  return ids;
}

/**
 * What a purge sends once it found that its order stands: each would do harm to what is new, if it
 * did not know it from what is gone.
 */
const steps = [
  "indexes/declare-indexes-n",
  "purges/purge-objects-n",
  "purges/purge-document-4",
  "sessions/purge-sessions-3",
].map(freeingScript);

/** The replica whose step is held back on its way to Redis. */
async function holdStep({ world, history }: Stage, { name, sha }: Script): Promise<WorldReplica> {
  const held = world.replicas.map(async (replica) => {
    await proxyOf(replica).holdFrom(new RegExp(sha));
    return replica;
  });
  const first = await Promise.race(held);
  for (const other of world.replicas) if (other !== first) proxyOf(other).release();
  history.fault(`${first.name} stands still before ${name}`);
  return first;
}

interface Lives {
  readonly life: Life;
  readonly former: Life;
}

async function check({ asker, history }: Stage, replica: Target, { life, former }: Lives): Promise<void> {
  const read = async (path: string): Promise<string> => (await asker.ask(replica, { path: `${base}${path}`, as })).text;
  const compare = (what: string, found: unknown, expected: unknown): void => {
    const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
    if (one !== other)
      history.unexpected(`${replica.name} has ${what} ${one} after a purge of the earlier ones, not ${other}`);
  };
  const list = JSON.parse(await read("/api/books?_limit=100")) as { items?: readonly { id: string }[]; count?: number };
  compare("objects", [list.items?.map(({ id }) => id).sort(), list.count], [[...life.ids].sort(), life.ids.length]);
  const sorted = JSON.parse(await read("/api/books?_limit=100&_sort=n")) as { items?: readonly { id: string }[] };
  compare(
    "indexed objects",
    sorted.items?.map(({ id }) => id),
    life.ids,
  );
  compare("the value", await read("/json/flags"), life.flags);
  const sessions = JSON.parse(await read("/sessions")) as
    | { items?: readonly { id: string }[] }
    | readonly { id: string }[];
  const found = "items" in sessions ? sessions.items : (sessions as readonly { id: string }[]);
  compare("sessions", found?.map(({ id }) => id).sort(), life.sessions.map(({ session_id }) => session_id).sort());
  for (const [expected, { sessions: tokens }] of [
    [200, life],
    [401, former],
  ] as const) {
    for (const { access_token } of tokens) {
      const { status } = await asker.ask(replica, { path: `${base}/api/books?_limit=1`, as: `Bearer ${access_token}` });
      compare("the answer to a token", status, expected);
    }
  }
}
