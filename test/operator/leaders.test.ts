// Two operators, of which one leads: what happens when it is killed, stopped or paused, and when
// the other one heard nothing any more. Nothing of that is seen by clients.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { shop } from "../support/fleet/shop.ts";
import { startTraffic, type Traffic } from "../support/fleet/traffic.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { kubeconfigThrough } from "../support/kubernetes/kubeconfig-through.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { type OperatorUser, operatorUserOf, writesOf } from "./operator-users.ts";

interface Operator {
  readonly user: OperatorUser;
  readonly process: OperatorProcess;
}

const shortLease = ["--lease-duration", "4s"];
/**
 * As its holder writes it into the Lease, where it holds for standbys with shorter ones as well:
 * longer than a slow machine takes for anything.
 */
const longLeaseMs = 300_000;
const longLease = ["--lease-duration", `${longLeaseMs / 1_000}s`];

let fleet: OwnFleet;
let namespace: string;
let traffic: Traffic;
let operators: Operator[] = [];
let named = 0;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true } });
  await start(...shortLease);
  await fleet.addReplica();
  namespace = await fleet.api.namespace();
  await fleet.api.apply(shop(), { namespace });
  await fleet.ready(namespace);
});
afterAll(() => fleet?.stop());

beforeEach(() => {
  const [replica] = fleet.replicas;
  traffic = startTraffic(
    () => replica?.send(`/${namespace}/shop/api/items`) ?? Promise.reject(new Error("No replica")),
  );
  return async () => {
    const { answered, failures } = await traffic.stop();
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(10);
  };
});

async function start(...args: readonly string[]): Promise<Operator> {
  return startThrough(undefined, args);
}

/** Reaches the API server by way of this port. */
async function startThrough(port: number | undefined, args: readonly string[]): Promise<Operator> {
  named += 1;
  const user = await operatorUserOf(fleet.api, `operator-${named}`);
  const direct = await fleet.api.kubeconfig(user);
  const kubeconfig = port === undefined ? direct : await kubeconfigThrough(direct, port);
  const process = await fleet.addOperator({ kubeconfig, args });
  operators.push({ user, process });
  return { user, process };
}

async function leader(): Promise<Operator> {
  const leading = await Promise.all(operators.map(async (operator) => (await operator.process.leads()) && operator));
  const [first, ...others] = leading.filter((operator) => operator !== false);
  if (first === undefined || others.length > 0) throw new Error(`${others.length + (first ? 1 : 0)} operators lead`);
  return first;
}

/** Ends the leader, and waits until another one leads. */
async function replaced(how: (leader: Operator) => Promise<unknown>, withinMs = 60_000): Promise<void> {
  const former = await eventually(leader);
  operators = operators.filter((operator) => operator !== former);
  await how(former);
  await eventually(leader, { withinMs });
}

async function meta(field: string): Promise<string> {
  return askRedis(fleet.redis.port, `HGET ${configKeys.meta} ${field}`);
}

/** An edit that only its leader can make live. */
async function edited(longest: number): Promise<void> {
  await fleet.api.apply(shop({ longest }), { namespace });
  const key = await fleet.secret(namespace, "web-api-key", "apiKey");
  const asked = { method: "POST", body: { title: "x".repeat(longest + 1) }, as: `apikey ${key}` };
  await eventually(async () => {
    const answer = await fleet.replicas[0]?.send(`/${namespace}/shop/api/items`, asked);
    expect(answer?.text).toContain(` ${longest} `);
  });
}

describe("the leader", () => {
  it("is replaced when it is killed", async () => {
    await start(...shortLease);
    await replaced(({ process }) => process.stop("SIGKILL"));
    await edited(30);
  });

  it("is replaced long before its Lease has run out when it is stopped: it gives it back", async () => {
    // The one with the long Lease leads first, and the standby asks for it twice a second.
    const former = await eventually(leader);
    operators = [];
    await former.process.stop();
    await start(...longLease);
    await eventually(leader, { withinMs: 60_000 });
    await start(...shortLease);
    let code: number | null = null;
    await replaced(async ({ process }) => {
      code = await process.stop("SIGTERM");
    }, longLeaseMs / 2);
    expect(code).toBe(0);
    await edited(31);
  });

  it("writes nothing when it was paused until another one led, and stands by again", async () => {
    await start(...shortLease);
    await replaced(({ process }) => process.stop());
    await start(...shortLease);
    const paused = await eventually(leader);
    operators = operators.filter((operator) => operator !== paused);
    // Work that is there for it when it wakes up.
    paused.process.signal("SIGSTOP");
    await fleet.api.apply(shop({ name: "meanwhile", keys: { unseen: "one" } }), { namespace });
    await eventually(leader, { withinMs: 60_000 });
    await edited(32);
    await fleet.ready(namespace);
    const written = async () => {
      const writes = await writesOf(fleet.api, paused.user);
      // A renewal of the Lease that was under way when it was paused is refused for its
      // resourceVersion, or had no body in time (504).
      return [writes.filter(({ code }) => code < 300), await meta("epoch"), await meta("revision")];
    };
    const before = await written();
    paused.process.signal("SIGCONT");
    await eventually(() => expect(paused.process.log()).toContain("No longer leading"));
    // Longer than a term's work may last.
    await sleep(3_000);
    expect(await paused.process.leads()).toBe(false);
    expect(await written()).toEqual(before);
    await edited(33);
    operators.push(paused);
    await replaced(({ process }) => process.stop());
    expect(await eventually(leader)).toBe(paused);
    await edited(34);
  });
});

describe("a standby whose connections to the API server have died without a word", () => {
  it("brings no key back that was revoked meanwhile when it comes to lead", async () => {
    await fleet.api.apply(shop({ keys: { web: "one", lent: "one" } }), { namespace });
    await fleet.ready(namespace);
    const proxy = await startTcpProxy(Number(new URL(fleet.api.url).port));
    onTestFinished(() => proxy.stop());
    const standby = await startThrough(proxy.port, shortLease);
    const key = await fleet.secret(namespace, "lent-api-key", "apiKey");
    const status = async (): Promise<number | undefined> =>
      (await fleet.replicas[0]?.send(`/${namespace}/shop/api/items`, { as: `apikey ${key}` }))?.status;
    await eventually(async () => expect(await status()).toBe(200));
    proxy.abandon();
    await objectsOf(fleet.api, namespace).remove("ApiKey", "lent");
    await eventually(async () => expect(await status()).toBe(401));
    await replaced(({ process }) => process.stop("SIGKILL"));
    const seen = new Set<number | undefined>();
    await eventually(
      async () => {
        seen.add(await status());
        expect(standby.process.log()).toContain("All Projects are published");
      },
      { withinMs: 60_000 },
    );
    await edited(40);
    expect([...seen, await status()]).toEqual([401, 401]);
  });
});

describe("a fleet without an operator", () => {
  it("lets a replica that starts meanwhile serve what was published last", async () => {
    const key = await fleet.secret(namespace, "web-api-key", "apiKey");
    await Promise.all(operators.map(({ process }) => process.stop("SIGKILL")));
    // What nobody looks at changes nothing.
    await fleet.api.apply(shop({ longest: 1 }), { namespace });
    const replica = await fleet.addReplica();
    const asked = { method: "POST", body: { title: "Momo" }, as: `apikey ${key}` };
    expect((await replica.send(`/${namespace}/shop/api/items`, asked)).status).toBe(201);
    expect((await replica.send(`/${namespace}/shop/api/items`)).status).toBe(200);
  });

  it("gives an ApiKey that was made anew under another Project meanwhile a key of its own: the former one lets in nowhere", async () => {
    const former = await fleet.secret(namespace, "web-api-key", "apiKey");
    await Promise.all(operators.map(({ process }) => process.stop("SIGKILL")));
    operators = [];
    await objectsOf(fleet.api, namespace).remove("ApiKey", "web");
    await fleet.api.apply(shop({ name: "blog" }), { namespace });
    await start(...shortLease);
    await fleet.ready(namespace);
    const create = async (project: string, key: string): Promise<number | undefined> => {
      const asked = { method: "POST", body: { title: "Momo" }, as: `apikey ${key}` };
      return (await fleet.replicas[0]?.send(`/${namespace}/${project}/api/items`, asked))?.status;
    };
    const key = await fleet.secret(namespace, "web-api-key", "apiKey");
    await eventually(async () => expect(await create("blog", key)).toBe(201));
    expect([await create("blog", former), await create("shop", key)]).toEqual([401, 401]);
    await eventually(async () => expect(await create("shop", former)).toBe(401));
  });
});
