// What clients hear, and what is stored, while Redis goes away under load, stands still, refuses,
// or loses an answer.

import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import { createRedisStore } from "../../dataplane/store/redis/redis-store.ts";
import { outcome } from "../support/http/api-calls.ts";
import { type Reply, send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  changed,
  project,
  withConfig,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { expectProblem } from "../support/http/replies.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { commandsSent } from "../support/redis/command-counts.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const writer = apikey("writer");
const mergePatch = { "Content-Type": "application/merge-patch+json" };
const shop = project(
  "shop",
  withKey("writer", { role: "Administrators" }),
  withUser("alice"),
  withRootKey("doc", { initialValue: '{"list":[]}' }),
  withResource("things", { access: { read: "Anyone" }, scope: { read: "All" } }),
);

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis({
    args: ["--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0"],
  });
});
afterAll(() => redis.stop());

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Patience {
  readonly commandTimeoutMs?: number;
  /** Serves the projects of another data plane. */
  readonly namespace?: string;
  readonly projects?: readonly CompiledProject[];
}

async function serveOn(
  url: string,
  { commandTimeoutMs = 10_000, projects = [shop], ...options }: Patience = {},
): Promise<Served> {
  const store = await createRedisStore({ url, clock: systemClock, commandTimeoutMs });
  const served = await serveFrom(store, projects, options);
  closing.push(async () => {
    await served.plane.close();
    await store.close();
  });
  return served;
}

const append = (served: Served, value: unknown) =>
  served.send("/json/doc/list/-", { method: "POST", body: JSON.stringify(value), as: writer });
const create = (served: Served, n: number) => served.send("/api/things", { method: "POST", body: { n }, as: writer });
const readList = async (served: Served) => (await served.send("/json/doc/list")).json<number[]>();

function expectUnavailable(reply: Reply, code: "store_unavailable" | "outcome_unknown" = "store_unavailable"): void {
  expectProblem(reply, code);
  expect([reply.status, Number(reply.headers["retry-after"])]).toEqual([503, expect.toSatisfy((n: number) => n > 0)]);
}

const isBack = (served: Served) => eventually(async () => expect((await served.send("/json/doc")).status).toBe(200));

describe("while Redis is away", () => {
  /** Every kind of request that needs the store. */
  const requests: Readonly<Record<string, (served: Served) => Promise<Reply>>> = {
    "a list": (served) => served.send("/api/things"),
    "a sorted list": (served) => served.send("/api/things?_sort=-id", { as: writer }),
    "an object": (served) => served.send("/api/things/0190a000-0000-7000-8000-000000000000"),
    "a create": (served) => create(served, 1),
    "a PUT of an object": (served) =>
      served.send("/api/things/0190a000-0000-7000-8000-000000000000", { method: "PUT", body: {}, as: writer }),
    "a DELETE of an object": (served) =>
      served.send("/api/things/0190a000-0000-7000-8000-000000000000", { method: "DELETE", as: writer }),
    "a root key": (served) => served.send("/json/doc"),
    "a part of a root key": (served) => served.send("/json/doc/list/0"),
    "an insert": (served) => append(served, 1),
    "a PUT into a root key": (served) => served.send("/json/doc/k", { method: "PUT", body: 1, as: writer }),
    "a PUT under an odd key": (served) => served.send("/json/doc/%22%27", { method: "PUT", body: 1, as: writer }),
    "a DELETE in a root key": (served) => served.send("/json/doc/list", { method: "DELETE", as: writer }),
    "a login": (served) => served.send("/sessions", { method: "POST", as: basic("alice") }),
    "the sessions": (served) => served.send("/sessions", { as: writer }),
  };

  it("every request that needs it is answered 503 store_unavailable with Retry-After, at once", async () => {
    const served = await serveOn(redis.url);
    await create(served, 1);
    await redis.kill();
    try {
      await eventually(async () => expect((await served.send("/json/doc")).status).toBe(503));
      for (const request of Object.values(requests)) expectUnavailable(await request(served));
    } finally {
      await redis.restart();
    }
    await isBack(served);
    expect((await served.send("/api/things")).json().count).toBe(1);
  });

  it("what needs no store is answered as ever: refusals, public keys, credentials known by heart", async () => {
    const served = await serveOn(redis.url);
    const login = await served.send("/sessions", { method: "POST", as: basic("alice") });
    const { access_token } = login.json<{ access_token: string }>();
    await redis.kill();
    try {
      await eventually(async () => expect((await served.send("/json/doc")).status).toBe(503));
      expect((await served.send("/json/none")).code).toBe("unknown_root_key");
      expect((await served.send("/api/things", { method: "POST", body: {} })).code).toBe("authentication_required");
      expect((await served.send("/.well-known/jwks.json")).status).toBe(200);
      // Both are known and allowed, and so hear of the store and not of their credentials.
      for (const as of [writer, `bearer ${access_token}`]) {
        expectUnavailable(await served.send("/json/doc/k", { method: "PUT", body: 1, as }));
      }
    } finally {
      await redis.restart();
    }
    await isBack(served);
  });
});

interface Written {
  readonly n: number;
  readonly reply: Reply;
}

/** Eight writers, of root keys and objects in turn, and four readers, until it is stopped. */
function startLoad(served: Served) {
  const written: Written[] = [];
  const read: Reply[] = [];
  let running = true;
  let next = 0;
  const write = async () => {
    while (running) {
      const n = next;
      next += 1;
      written.push({ n, reply: await (isAppend(n) ? append(served, n) : create(served, n)) });
    }
  };
  const look = async () => {
    while (running) read.push(await served.send("/api/things?_limit=1"), await served.send("/json/doc"));
  };
  const workers = [...Array.from({ length: 8 }, write), ...Array.from({ length: 4 }, look)];
  return {
    written,
    read,
    acknowledged: () => written.filter(({ reply }) => reply.status === 201).length,
    async stop() {
      running = false;
      await Promise.all(workers);
    },
  };
}

const isAppend = (n: number) => n % 2 === 0;

async function readObjects(served: Served): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (;;) {
    const page = await served.send(`/api/things?_limit=100&_offset=${numbers.length}`);
    const { items } = page.json<{ items: { n: number }[] }>();
    if (items.length === 0) return numbers;
    numbers.push(...items.map(({ n }) => n));
  }
}

/** Acknowledged = there, once; unavailable = not there; unknown = at most once. */
function expectHonest({ n, reply }: Written, stored: readonly number[]): void {
  const times = stored.filter((each) => each === n).length;
  if (reply.status === 201) expect([n, times]).toEqual([n, 1]);
  else if (reply.code === "store_unavailable") expect([n, times]).toEqual([n, 0]);
  else expectUnavailable(reply, "outcome_unknown");
  expect(times).toBeLessThanOrEqual(1);
}

function expectNothingMissing(reply: Reply): void {
  if (reply.status !== 200) expectUnavailable(reply);
  else if (reply.text.startsWith('{"count"')) expect(reply.json().count).toBeGreaterThan(0);
  else expect(reply.text).toContain('"list"');
}

describe("Redis killed and restarted under load", () => {
  it("loses no acknowledged write and applies none twice; meanwhile 503, never an empty list; it recovers by itself", async () => {
    const served = await serveOn(redis.url);
    await create(served, -1);
    const load = startLoad(served);
    for (let round = 1; round <= 2; round += 1) {
      await eventually(() => expect(load.acknowledged()).toBeGreaterThan(60 * round));
      await redis.kill();
      await eventually(() => expect(load.written.at(-1)?.reply.status).toBe(503));
      await redis.restart();
      const before = load.acknowledged();
      await eventually(() => expect(load.acknowledged()).toBeGreaterThan(before));
    }
    await load.stop();

    for (const reply of load.read) expectNothingMissing(reply);
    const [inList, objects] = [await readList(served), await readObjects(served)];
    for (const each of load.written) expectHonest(each, isAppend(each.n) ? inList : objects);
  });
});

describe("a connection cut", () => {
  let proxy: TcpProxy;
  let served: Served;

  async function behindProxy() {
    proxy = await startTcpProxy(redis.port);
    closing.push(() => proxy.stop());
    served = await serveOn(`redis://127.0.0.1:${proxy.port}`);
    await append(served, "first");
  }

  /** Loses what passes in one direction, then the connection. */
  async function lose(direction: "requests" | "replies", request: () => Promise<Reply>): Promise<Reply> {
    // Not by what the replica asks for on its own.
    proxy.drop(direction, /doc|things/);
    const reply = request();
    await proxy.dropped();
    proxy.cut();
    return reply;
  }

  it("between a write and its reply is 503 outcome_unknown, and the write is there once", async () => {
    await behindProxy();
    for (let n = 0; n < 3; n += 1) {
      expectUnavailable(await lose("replies", () => append(served, n)), "outcome_unknown");
      await isBack(served);
    }
    expect(await readList(served)).toEqual(["first", 0, 1, 2]);
    // So that the create is the next thing sent: what the store knows of the resource is loaded
    // before.
    await create(served, 6);
    expectUnavailable(await lose("replies", () => create(served, 7)), "outcome_unknown");
    await isBack(served);
    expect((await served.send("/api/things")).json()).toMatchObject({ count: 2, items: [{ n: 6 }, { n: 7 }] });
  });

  it("before a write arrived is 503 outcome_unknown, and nothing is there", async () => {
    await behindProxy();
    for (let n = 0; n < 3; n += 1) {
      expectUnavailable(await lose("requests", () => append(served, n)), "outcome_unknown");
      await isBack(served);
    }
    expect(await readList(served)).toEqual(["first"]);
  });

  it("between a read and its reply is 503 store_unavailable: nothing can have happened", async () => {
    await behindProxy();
    for (const path of ["/json/doc/list", "/api/things", "/json/doc/0"]) {
      expectUnavailable(await lose("replies", () => served.send(path)));
      await isBack(served);
    }
  });

  it("under a hundred writes leaves each at most once, and those acknowledged exactly once", async () => {
    await behindProxy();
    const writes = Array.from({ length: 100 }, async (_, n) => ({ n, reply: await append(served, n) }));
    await Promise.race(writes);
    proxy.cut();
    const written = await Promise.all(writes);
    await isBack(served);
    const stored = await readList(served);
    expect(new Set(stored).size).toBe(stored.length);
    for (const each of written) expectHonest(each, stored);
  });
});

describe("a Redis that", () => {
  it("stands still makes a write outcome_unknown when its time is over, later requests unavailable; then all is well", async () => {
    const patient = await serveOn(redis.url);
    await append(patient, "first");
    const served = await serveOn(redis.url, { commandTimeoutMs: 2_000, namespace: patient.namespace });
    await redis.kill("SIGSTOP");
    try {
      expectUnavailable(await append(served, "second"), "outcome_unknown");
      expectUnavailable(await served.send("/json/doc"));
      expectUnavailable(await served.send("/api/things"));
    } finally {
      await redis.kill("SIGCONT");
    }
    await isBack(served);
    const stored = await readList(patient);
    expect(stored.filter((value) => String(value) === "second").length).toBeLessThanOrEqual(1);
    expect(stored[0]).toBe("first");
  });

  it("has no memory left refuses writes with 507 store_full and goes on with reads", async () => {
    const served = await serveOn(redis.url);
    await append(served, "first");
    await askRedis(redis.port, "CONFIG SET maxmemory 1");
    try {
      expect(outcome(await append(served, "second"))).toEqual([507, "store_full"]);
      expect(outcome(await create(served, 1))).toEqual([507, "store_full"]);
      expect(await readList(served)).toEqual(["first"]);
    } finally {
      await askRedis(redis.port, "CONFIG SET maxmemory 0");
    }
    await eventually(async () => expect((await append(served, "third")).status).toBe(201));
    expect(await readList(served)).toEqual(["first", "third"]);
  });
});

describe("a project whose writes wait for a Redis replica", () => {
  const ledger = changed(shop, withConfig({ name: "ledger", uid: randomUUID(), durability: "Replicated" }));

  it("hears 201 of what the replica has, 503 of what it doesn't confirm, and keeps nobody else waiting", async () => {
    const replica = await startRedis({ args: ["--replicaof", `127.0.0.1 ${redis.port}`] });
    closing.push(() => replica.stop());
    const served = await serveOn(redis.url, { commandTimeoutMs: 8_000, projects: [ledger, shop] });
    const other = await serveOn(redis.url, {
      commandTimeoutMs: 20_000,
      projects: [ledger],
      namespace: served.namespace,
    });
    const connections = () => askRedis(redis.port, "CLIENT LIST");
    const neighbours = (n: number) =>
      send(served.origin, `/${served.namespace}/shop/api/things`, { method: "POST", body: { n }, as: writer });

    expect((await neighbours(1)).status).toBe(201);
    expect(await connections()).not.toContain("name=jsonplane-replicated");
    await eventually(async () => expect((await append(served, 1)).status).toBe(201));
    expect(await connections()).toContain("name=jsonplane-replicated");
    expect(await askRedis(replica.port, "KEYS *")).toContain("/ledger/json/doc}:value");
    expect((await append(other, 2)).status).toBe(201);
    const keyed = (by: Served, n: number, key: string) =>
      by.send("/api/things", { method: "POST", body: { n }, as: writer, headers: { "Idempotency-Key": key } });
    let id = "";
    // A key that is new costs no second round trip to the replica.
    const sent = await commandsSent(redis.port, async () => {
      id = (await keyed(served, 1, "first")).json<{ id: string }>().id;
    });
    expect(sent["wait"]).toBe(1);

    const writes: readonly ((by: Served) => Promise<Reply>)[] = [
      (by) => keyed(by, 2, "once"),
      (by) => by.send(`/api/things/${id}`, { method: "PUT", body: { n: 3 }, as: writer }),
      (by) => by.send("/json/doc", { method: "PATCH", body: { k: 4 }, as: writer, headers: mergePatch }),
    ];
    await replica.kill("SIGSTOP");
    const first = Promise.all(writes.map((write) => write(served)));
    expect(await Promise.race([first, neighbours(2)])).toMatchObject({ status: 201 });
    for (const reply of await first) {
      expectUnavailable(reply, "outcome_unknown");
      expect(reply.text).toContain("spec.durability");
    }
    // Nor does anything come behind them that would not be confirmed, either.
    const refused = await create(served, 5);
    expectUnavailable(refused);
    expect(refused.text).toContain("keeps no second copy");

    // A repetition finds nothing to do, and what it found may yet be lost.
    const again = writes.map((write) => write(other));
    const others = async () => {
      for (let n = 0; n < 20; n += 1) expect((await neighbours(n)).status).toBe(201);
      return "the others";
    };
    expect(await Promise.race([...again, others()])).toBe("the others");
    await replica.kill("SIGCONT");
    expect((await Promise.all(again)).map(({ status }) => status)).toEqual([201, 200, 200]);
    expect((await served.send("/api/things")).json()).toMatchObject({ count: 2, items: [{ n: 3 }, { n: 2 }] });
  });

  it("is refused before anything is done where Redis has none", async () => {
    const served = await serveOn(redis.url, { commandTimeoutMs: 4_000, projects: [ledger] });
    await eventually(async () =>
      expect(await askRedis(redis.port, "INFO replication")).toContain("connected_slaves:0"),
    );
    const refused = await create(served, 1);
    expectUnavailable(refused);
    expect(refused.text).toContain("keeps no second copy");
    expect((await served.send("/api/things")).json().count).toBe(0);
  });
});
