// The way of data that are to be purged, on real Redis: recorded, ordered, carried out by a
// replica, struck off, with the operator cut off at every step of it.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { configKeys, purgingLockKey } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { WritesRefused } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { DataEntry, DataInventory, DeletedProject } from "../../operator/model/data-inventory.ts";
import type { RolloutState } from "../../operator/publish/acknowledgements.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { createPurges, type Purges } from "../../operator/publish/purges.ts";
import { advancePurges, orderedPurges, type PurgeOutcome, purgeId } from "../../operator/stored-data/advance-purges.ts";
import { newPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { purgingReplica } from "../support/store/purging-replica.ts";
import { idOf, objectOf, servedText } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const ref = { namespace: "default", name: "shop" };
const flags = { project: ref, rootKey: "flags" };
const pending: readonly DataEntry[] = [
  { what: "resource", name: "books", uid: "u-books", namespaceUid: "n", purgeFromRevision: 5, purgeCause: "u-books" },
  { what: "rootkey", name: "flags", uid: "u-flags", namespaceUid: "n", purgeFromRevision: 5, purgeCause: "p" },
];
/** A Project that had this name before. */
const ended: DeletedProject = { uid: "p0", purgeFromRevision: 5 };
const pendingIds = [...pending, ended].map(purgeId);
const kept: DataEntry = { what: "resource", name: "films", uid: "u-films", namespaceUid: "n", retained: true };

let redis: TestRedis;
let redisClient: RedisClient;
let store: Store;
let publisher: Publisher;
let purges: Purges;
/** What is stored in addition to the configuration: changed only as the operator would. */
let inventory: DataInventory;
let rollout: RolloutState;
/** What the operator was told of orders, and a replica of what it carried out. */
let [observed, carriedOut]: [string[], string[]] = [[], []];

beforeAll(async () => {
  redis = await startRedis();
  redisClient = await openRedisClient(redis.url);
  store = await openRedisStore({ url: redis.url });
  publisher = newPublisher({ redisClient, keyring: parseKeyring(newKeyringText()) });
  purges = createPurges(redisClient, publisher);
});
afterAll(async () => {
  await store.close();
  redisClient.disconnect();
  await redis.stop();
});
beforeEach(async () => {
  await redisClient.write("x", "FLUSHALL");
  await publisher.begin();
  [observed, carriedOut] = [[], []];
  inventory = inventoryOf(pending, ended);
  rollout = "programmed";
  await writeSome();
  await logIn("p0", "old", "new");
  await logIn("p", "new");
  await write("films");
});

function inventoryOf(entries: readonly DataEntry[], ...deletedProjects: readonly DeletedProject[]): DataInventory {
  return { policy: "Delete", projectUid: "p", entries: [...entries, kept], deletedProjects };
}

async function writeSome(): Promise<void> {
  await write("books");
  await store.initialise(flags, '{"beta":true}');
}

async function write(resource: string, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers.length === 0 ? [1] : numbers) {
    const id = idOf(number);
    const object = { id, owner: "user:a", text: servedText(id, [], "user:a") };
    await store.create({ project: ref, resource }, object, 1_000);
  }
}

async function logIn(projectUid: string, ...usernames: readonly string[]): Promise<void> {
  const created = Math.floor(Date.now() / 1_000);
  for (const username of usernames) {
    const times = { created, lastRefresh: created, expires: created + 600 };
    const session = { id: `${projectUid} ${username}`, projectUid, username, credentialRevision: "1", ...times };
    await store.putSession(ref, session, { maxPerUser: 9, maxPerProject: 9 });
  }
}

const sessionsLeft = async (): Promise<readonly string[]> =>
  (await store.sessions(ref, { limit: 9 })).map(({ id }) => id);

const counted = (resource: string): Promise<number> => store.count({ project: ref, resource }, {});

const hasFlags = async (): Promise<boolean> => (await store.readAt(flags, [])).outcome === "found";

/** One pass of the operator; what remains is stored as the last step. */
async function pass(by: Purges = purges): Promise<PurgeOutcome> {
  const observe = (done: string, { id }: { readonly id: string }) => void observed.push(`${done} ${id}`);
  const outcome = await advancePurges({ ref, inventory, rolloutOf: () => rollout, purges: by, observe });
  inventory = outcome.inventory;
  return outcome;
}

async function left(key: string): Promise<readonly string[]> {
  return [...fieldsOf(await redisClient.read(key, "HGETALL", key)).keys()].sort();
}

/** A replica begins to carry out what is ordered. */
function carryOut(given: Store) {
  const failures: unknown[] = [];
  const onDone = (id: string) => void carriedOut.push(id);
  const onFailed = (error: unknown) => void failures.push(error);
  return { carrying: purgingReplica({ redisClient, store: given, onDone, onFailed }), failures };
}

/** A replica that comes, carries out what is ordered, and goes. */
async function replicaLooks(): Promise<void> {
  const { carrying, failures } = carryOut(store);
  await eventually(async () => {
    const done = await left(configKeys.results);
    for (const id of await left(configKeys.orders)) expect(done).toContain(id);
  });
  await carrying.stop();
  expect(failures).toEqual([]);
}

async function isSettled(): Promise<void> {
  expect([inventory.entries, inventory.deletedProjects]).toEqual([[kept], undefined]);
  expect([await counted("books"), await hasFlags(), await counted("films")]).toEqual([0, false, 1]);
  expect(await sessionsLeft()).toEqual(["p new"]);
  expect([await left(configKeys.orders), await left(configKeys.results)]).toEqual([[], []]);
}

describe("data that are to be purged", () => {
  it.each<[RolloutState, string]>([
    ["waiting", "replicas"],
    ["no_replicas", "no_replicas"],
  ])("are not ordered to be purged while replicas are %s", async (state, waitingFor) => {
    rollout = state;
    expect(await pass()).toMatchObject({ purged: [], waitingFor });
    expect(await left(configKeys.orders)).toEqual([]);
    expect(inventory.entries).toHaveLength(3);
  });

  it("wait for the publish that takes them out of service", async () => {
    inventory = { ...inventory, entries: pending.map((entry) => ({ ...entry, purgeFromRevision: 0 })) };
    expect(await pass()).toMatchObject({ purged: [], waitingFor: "replicas" });
  });

  it("are ordered once, purged by a replica, and struck off; what is kept stays", async () => {
    const first = await pass();
    expect(first.waiting).toEqual(new Map(pending.map(({ uid }) => [uid, "purge"])));
    expect(first.purgesSessions).toBe(true);
    expect(await orderedPurges(inventory, purges)).toEqual(new Set(pendingIds));
    await pass();
    await replicaLooks();
    expect(carriedOut.toSorted()).toEqual(pendingIds.toSorted());
    expect((await pass()).purged).toEqual(pending);
    await isSettled();
    expect(await orderedPurges(inventory, purges)).toEqual(new Set());
    const passes = ["purge_ordered", "purge_done"];
    expect(observed).toEqual(passes.flatMap((done) => pendingIds.map((id) => `${done} ${id}`)));
  });

  it("leave no mark behind of an order that is forgotten", async () => {
    await redisClient.write(configKeys.results, "HSET", configKeys.results, "an earlier one", 1);
    await pass();
    const { carrying } = carryOut(store);
    await eventually(async () => expect(await left(configKeys.results)).not.toContain("an earlier one"));
    await carrying.stop();
    await replicaLooks();
    await pass();
    await isSettled();
  });

  it("are struck off although no replica is there any more", async () => {
    await pass();
    await replicaLooks();
    rollout = "no_replicas";
    await pass();
    await isSettled();
  });

  it("go on being purged when a replica comes that serves older configuration", async () => {
    await pass();
    rollout = "waiting";
    expect((await pass()).waitingFor).toBe("purge");
  });

  it("of an object that was made anew and deleted again are purged again", async () => {
    await pass();
    await replicaLooks();
    await pass();
    await writeSome();
    await logIn("p0", "old");
    const again = pending.map((entry) => ({ ...entry, purgeFromRevision: 9 }));
    inventory = inventoryOf(again, { ...ended, purgeFromRevision: 9 });
    await pass();
    await replicaLooks();
    await pass();
    await isSettled();
  });
});

describe("while what is stored takes all the memory that Redis may use", () => {
  const isRefused = () =>
    write("films", 2).then(
      () => false,
      (error: unknown) => error instanceof WritesRefused,
    );

  it("data that are to be purged are purged, indexes included, and what they leave can be written to again", async () => {
    await store.declareIndexes({ project: ref, resource: "books" }, [{ name: "n", path: ["n"] }], 1);
    for (let n = 2; n < 250; n += 1) {
      // Redis JSON keeps equal strings once.
      const filler = JSON.stringify(`${n}`.padEnd(60_000, "x"));
      await store.create({ project: ref, resource: "books" }, objectOf(n, { n: `${n}`, filler }), 1_000);
    }
    const used = /^used_memory:(\d+)/m.exec(String(await redisClient.read("x", "INFO", "memory")))?.[1];
    await redisClient.write("x", "CONFIG", "SET", "maxmemory", Number(used) - 8 * 1024 * 1024);
    try {
      expect(await isRefused()).toBe(true);
      await pass();
      await replicaLooks();
      expect((await pass()).purged).toEqual(pending);
      // Redis gives the memory back in the background.
      await eventually(async () => expect(await isRefused()).toBe(false));
    } finally {
      await redisClient.write("x", "CONFIG", "SET", "maxmemory", 0);
    }
    await store.remove({ project: ref, resource: "films" }, idOf(2), {});
    await isSettled();
  });
});

describe("a replica that stands still in the middle of a purge", () => {
  it("goes no further once another one has finished it: what is stored by then is new", async () => {
    await write("books", ...Array.from({ length: 250 }, (_, at) => at + 2));
    let wakeUp = (): void => undefined;
    const asleep = new Promise<void>((resolve) => {
      wakeUp = resolve;
    });
    let steps = 0;
    const slow: typeof store.purge = async (...args) => {
      steps += 1;
      const answer = await store.purge(...args);
      if (steps === 1) await asleep;
      return answer;
    };
    inventory = inventoryOf(pending.slice(0, 1));
    await pass();
    const { carrying, failures } = carryOut({ ...store, purge: slow });
    await eventually(() => expect(steps).toBe(1));
    // Its lock has run out meanwhile.
    await redisClient.write(purgingLockKey, "DEL", purgingLockKey);
    await replicaLooks();
    await pass();
    await write("books");
    wakeUp();
    // It comes to the next one once it has ended this.
    await purges.order("next", { what: "rootkey", project: ref, name: "flags" });
    await eventually(async () => expect(await left(configKeys.results)).toEqual(["next"]));
    await carrying.stop();
    expect([steps, failures, await counted("books")]).toEqual([1, [], 1]);
  });
});

describe("a replica that stands still around its look at the order", () => {
  type Late = "collectionIdentity" | "purge" | "documentIdentity" | "purgeDocument" | "purgeSessions";
  /** A store whose first call of `method` comes as late as `wakeUp` is called. */
  function lateStore(method: Late) {
    let wakeUp = (): void => undefined;
    const asleep = new Promise<void>((resolve) => {
      wakeUp = resolve;
    });
    const seen = { late: 0, wasLate: false };
    const late = async (...args: readonly unknown[]) => {
      seen.late += 1;
      if (seen.late > 1) return Reflect.apply(store[method], store, args);
      await asleep;
      const outcome: unknown = await Reflect.apply(store[method], store, args);
      seen.wasLate = true;
      return outcome;
    };
    return { given: { ...store, [method]: late }, seen, wakeUp: () => wakeUp() };
  }

  it("takes no session of a Project that was made anew, and goes on to the end of the one that is gone", async () => {
    const { given, seen, wakeUp } = lateStore("purgeSessions");
    inventory = inventoryOf([], ended);
    await pass();
    const { carrying, failures } = carryOut(given);
    await eventually(() => expect(seen.late).toBe(1));
    await redisClient.write(purgingLockKey, "DEL", purgingLockKey);
    await replicaLooks();
    await pass();
    await logIn("p2", "old", "anew");
    wakeUp();
    await eventually(() => expect(seen.wasLate).toBe(true));
    await carrying.stop();
    expect([await sessionsLeft(), failures]).toEqual([["p2 old", "p2 anew", "p new"], []]);
    expect(await left(configKeys.results)).toEqual([]);
  });

  it.each([
    ["collectionIdentity", 0],
    ["purge", 0],
    ["documentIdentity", 1],
    ["purgeDocument", 1],
  ] as const)("takes nothing of what was stored since: %s", async (method, at) => {
    const { given, seen, wakeUp } = lateStore(method);
    inventory = inventoryOf(pending.slice(at, at + 1));
    await pass();
    const { carrying, failures } = carryOut(given);
    await eventually(() => expect(seen.late).toBe(1));
    // Its lock has run out meanwhile, and another replica has done what was ordered.
    await redisClient.write(purgingLockKey, "DEL", purgingLockKey);
    await replicaLooks();
    await pass();
    expect(inventory.entries).toEqual([kept]);
    await store.declareIndexes({ project: ref, resource: "books" }, [{ name: "n", path: ["n"] }], 9);
    await write("books", ...Array.from({ length: 10 }, (_, number) => number + 100));
    await store.initialise(flags, '{"made":"anew"}');
    wakeUp();
    await eventually(() => expect(seen.wasLate).toBe(true));
    await carrying.stop();
    expect([await counted("books"), await hasFlags(), failures]).toEqual([10 + at, true, []]);
    expect(await store.indexes({ project: ref, resource: "books" })).toMatchObject([{ field: { name: "n" } }]);
    expect(await left(configKeys.results)).toEqual([]);
  });
});

class CutOff extends Error {}

/** Fails at one call of it, counted from 0, before or after its effect. */
function cutOff(at: number, when: "before" | "after"): Purges {
  let calls = 0;
  const cut =
    <A extends readonly unknown[], R>(method: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const mine = calls;
      calls += 1;
      if (mine === at && when === "before") throw new CutOff();
      const result = await method(...args);
      if (mine === at) throw new CutOff();
      return result;
    };
  return {
    order: cut(purges.order),
    isOrdered: cut(purges.isOrdered),
    isDone: cut(purges.isDone),
    forget: cut(purges.forget),
  };
}

describe("an operator that is cut off while it purges", () => {
  const moments = [0, 1, 2, 3, 4, 5].flatMap((at) => (["before", "after"] as const).map((when) => [at, when] as const));

  it.each(moments)(
    "at call %i, %s it, leaves nothing behind, and nothing of what comes next is purged",
    async (at, when) => {
      const broken = async (): Promise<void> => {
        await pass(cutOff(at, when)).catch((error: unknown) => {
          if (!(error instanceof CutOff)) throw error;
        });
      };
      await broken();
      await replicaLooks();
      await broken();
      await replicaLooks();
      await pass();
      await replicaLooks();
      await pass();
      await isSettled();
      await writeSome();
      await logIn("p", "next");
      await replicaLooks();
      expect([await counted("books"), await hasFlags()]).toEqual([1, true]);
      expect(await sessionsLeft()).toEqual(["p next", "p new"]);
    },
  );

  it("between the purge and the inventory, orders it again, and is done", async () => {
    await pass();
    await replicaLooks();
    const before = inventory;
    await pass();
    inventory = before;
    expect(await pass()).toMatchObject({ purged: [], waitingFor: "purge" });
    await replicaLooks();
    await pass();
    await isSettled();
  });
});
