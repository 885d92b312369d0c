// An operator beside another one of its class in the same cluster, with a copy of that one's key ring: a mistake, where each has a Redis of its
// own, or a move to another namespace with the Redis of before. Projects stay with the one that made their Secrets, statuses say so, and
// --adopt-data moves all of it once.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, publicUrl, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { apiKey, shop } from "../support/fleet/shop.ts";
import { ensureNamespace, objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Conditions, conditionsOf, newTenant, type Tenant } from "../support/kubernetes/declared.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { isLease, type OperatorUser, operatorUserOf, writesOf } from "./operator-users.ts";

const within = { withinMs: 90_000 };
const ring = "jsonplane-keyring";
const otherNamespace = "jsonplane-moved";

let fleet: OwnFleet;
let otherRedis: TestRedis;
let second: OperatorUser;
let tenant: Tenant;
let key: string;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true } });
  otherRedis = await startRedis();
  await fleet.addOperator();
  await fleet.addReplica();
  tenant = await newTenant(fleet);
  await fleet.api.apply(shop(), { namespace: tenant.namespace });
  await fleet.ready(tenant.namespace);
  key = await fleet.secret(tenant.namespace, "web-api-key", "apiKey");
  await copyRing();
  second = await operatorUserOf(fleet.api, "two", otherNamespace);
});
afterAll(async () => {
  await fleet?.stop();
  await otherRedis?.stop();
});

async function copyRing(): Promise<void> {
  const { data } = await objectsOf(fleet.api, systemNamespace).get("Secret", ring);
  await ensureNamespace(fleet.api, otherNamespace);
  await objectsOf(fleet.api, otherNamespace).create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: ring },
    data,
  });
}

async function startSecond(redis: string, ...args: string[]): Promise<void> {
  const own = ["--operator-namespace", otherNamespace, ...args];
  await fleet.addOperator({ kubeconfig: await fleet.api.kubeconfig(second), redis, args: own });
}

const conditions = async (): Promise<Conditions> => conditionsOf(await tenant.get("Project", "shop"));

async function contested(): Promise<void> {
  const { Contested, Ready } = await eventually(async () => {
    const reported = await conditions();
    expect(reported["Contested"]?.status).toBe("True");
    return reported;
  }, within);
  expect(Ready?.status).toBe("True");
  expect(Contested?.message).toContain(`in namespace "${systemNamespace}"`);
  expect(Contested?.message).toContain("--adopt-data");
}

const maker = async (name: string): Promise<string> => {
  const { metadata } = await tenant.get("Secret", name);
  return metadata.annotations?.["jsonplane.io/installation"] ?? "";
};

/** What the second one wrote, but its Lease, Events and what is in its own namespace. */
async function written(): Promise<readonly string[]> {
  const writes = (await writesOf(fleet.api, second)).filter((each) => !isLease(each) && !/events/.test(each.resource));
  return writes
    .filter(({ namespace }) => namespace !== otherNamespace)
    .map(({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace}/${name}`);
}

const admitted = () =>
  tenant.everywhere("/api/items", { as: `apikey ${key}` }, (reply) => expect(reply.status).toBe(200));

it("with a Redis of its own it leaves the Project to the first, says so once, and both come to rest", async () => {
  await startSecond(otherRedis.url);
  await contested();
  let before: unknown;
  await eventually(
    async () => {
      const now = (await writesOf(fleet.api, second)).filter((each) => !isLease(each)).length;
      const isSame = now === before;
      before = now;
      expect(isSame).toBe(true);
    },
    { withinMs: 60_000, everyMs: 2_000 },
  );
  expect(await written()).toEqual([`patch projects.jsonplane.io/status ${tenant.namespace}/shop`]);
  for (const name of ["shop-signing", "web-api-key", "web-key-hash"]) {
    expect(await maker(name)).toContain(`${systemNamespace}/`);
  }
  await admitted();
});

it("with the Redis of the first, which is away, it takes nothing, and says of the Project whose it is", async () => {
  await fleet.operators.pop()?.stop();
  // The first one's next status has no word of the second.
  await fleet.api.apply(apiKey("more", { rotation: "one" }), { namespace: tenant.namespace });
  await tenant.reports("ApiKey", "more", "Ready");
  await eventually(async () => expect((await conditions())["Contested"]).toBeUndefined(), within);
  await fleet.operators.pop()?.stop();
  await startSecond(fleet.redis.url);
  await contested();
  expect(await maker("shop-signing")).toContain(`${systemNamespace}/`);
  await admitted();
});

it("with --adopt-data it takes Redis and Secrets, with the keys in force, and keeps them without the flag", async () => {
  await fleet.operators.pop()?.stop();
  await startSecond(fleet.redis.url, "--adopt-data");
  const isMoved = async () => {
    for (const name of ["shop-signing", "web-api-key", "web-key-hash"]) {
      expect(await maker(name)).toContain(`${otherNamespace}/${ring}/`);
    }
    // Nothing else of the status has changed.
    expect((await conditions())["Contested"]).toBeUndefined();
  };
  await eventually(isMoved, within);
  await fleet.operators.pop()?.stop();
  await startSecond(fleet.redis.url);
  await fleet.api.apply(apiKey("last", { rotation: "one" }), { namespace: tenant.namespace });
  await fleet.ready(tenant.namespace);
  await isMoved();
  expect(await fleet.secret(tenant.namespace, "web-api-key", "apiKey")).toBe(key);
  expect(await fleet.secret(tenant.namespace, "web-api-key", "baseURL")).toBe(`${publicUrl}/${tenant.namespace}/shop`);
  await admitted();
});
