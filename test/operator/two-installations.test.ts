// Two installations of one class in one cluster, each with an operator, a key ring and a Redis of its own: a Project stays with the one
// that made its Secrets, for as long as that one can come back.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, publicUrl, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { shop } from "../support/fleet/shop.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { ensureNamespace } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Conditions, conditionsOf, newPlace, type Place } from "../support/kubernetes/declared.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { isLease, type OperatorUser, operatorUserOf, writesOf } from "./operator-users.ts";

const within = { withinMs: 90_000 };
const otherNamespace = "jsonplane-other";
const otherUrl = "http://other.test";

let fleet: OwnFleet;
let otherRedis: TestRedis;
let users: readonly [OperatorUser, OperatorUser];
let place: Place;
let key: string;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true, controllers: ["namespace"] } });
  await ensureNamespace(fleet.api, otherNamespace);
  users = [await operatorUserOf(fleet.api, "one"), await operatorUserOf(fleet.api, "two", otherNamespace)];
  await fleet.addOperator({ kubeconfig: await fleet.api.kubeconfig(users[0]) });
  await fleet.addReplica();
  place = await newPlace(fleet);
  await fleet.api.apply(shop(), { namespace: place.namespace });
  await fleet.ready(place.namespace);
  key = await fleet.secret(place.namespace, "web-api-key", "apiKey");
  otherRedis = await startRedis();
  await fleet.addOperator({
    kubeconfig: await fleet.api.kubeconfig(users[1]),
    redis: otherRedis.url,
    publicUrl: otherUrl,
    args: ["--operator-namespace", otherNamespace],
  });
});
afterAll(async () => {
  await fleet?.stop();
  await otherRedis?.stop();
});

const conditions = async (): Promise<Conditions> => conditionsOf(await place.get("Project", "shop"));

/** What an operator wrote, but its Lease and Events. */
async function written(user: OperatorUser): Promise<readonly string[]> {
  const writes = (await writesOf(fleet.api, user)).filter((each) => !isLease(each) && !/events/.test(each.resource));
  return writes.map(({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace}/${name}`);
}

async function contested(): Promise<void> {
  await eventually(async () => expect((await conditions())["Contested"]?.status).toBe("True"), within);
}

async function served(url: string): Promise<void> {
  const project = await place.get("Project", "shop");
  expect(project.status?.["baseURL"]).toBe(`${url}/${place.namespace}/shop`);
  expect(conditionsOf(project)["Ready"]?.status).toBe("True");
  expect(await fleet.secret(place.namespace, "web-api-key", "baseURL")).toBe(`${url}/${place.namespace}/shop`);
  expect(await fleet.secret(place.namespace, "web-api-key", "apiKey")).toBe(key);
}

describe("a second installation of the same class", () => {
  it("says in the Project's status that it would serve it too, and whose it is", async () => {
    await contested();
    const { Contested } = await conditions();
    expect(Contested).toMatchObject({ reason: "SecretConflict" });
    expect(Contested?.message).toContain(`in namespace "${systemNamespace}"`);
    expect(Contested?.message).toContain("--class-name");
    expect(Contested?.message).toContain("--adopt-data");
  });

  it("writes nothing else of it, and both come to rest while the first goes on serving it", async () => {
    await contested();
    let before: unknown;
    await eventually(
      async () => {
        const now = await Promise.all(users.map(written));
        const isSame = JSON.stringify(now) === JSON.stringify(before);
        before = now;
        expect(isSame).toBe(true);
      },
      { withinMs: 60_000, everyMs: 2_000 },
    );
    const other = await written(users[1]);
    expect(other.filter((write) => !write.includes(`${otherNamespace}/`))).toEqual([
      `patch projects.jsonplane.io/status ${place.namespace}/shop`,
    ]);
    await served(publicUrl);
    await place.everywhere("/api/items", { as: `apikey ${key}` }, (reply) => expect(reply.status).toBe(200));
  });

  it("leaves new objects of it to the first", async () => {
    await fleet.api.apply(shop({ keys: { web: "one", more: "one" } }), { namespace: place.namespace });
    await fleet.ready(place.namespace);
    await sleep(1_000);
    await fleet.ready(place.namespace);
    const { metadata } = await place.get("Secret", "more-api-key");
    expect(metadata.annotations?.["jsonplane.io/installation"]).toContain(`${systemNamespace}/`);
    expect((await written(users[1])).filter((write) => write.endsWith("/more"))).toEqual([]);
  });

  it("takes it over with the keys that are in force, once the namespace of the first is gone", async () => {
    const [first] = fleet.operators;
    await first?.stop();
    const path = `/api/v1/namespaces/${systemNamespace}`;
    await apiObject(fleet.api, path, { method: "DELETE" });
    await eventually(() => expect(apiObject(fleet.api, path)).rejects.toThrow("NotFound"), within);
    let looks = 0;
    await eventually(
      async () => {
        // It looks by itself, too, every minute; and the namespace may be gone before it is told of that.
        looks += 1;
        await place.patch("Project", "shop", { metadata: { annotations: { "example.org/look": String(looks) } } });
        const { metadata } = await place.get("Secret", "shop-signing");
        expect(metadata.annotations?.["jsonplane.io/installation"]).toContain(`${otherNamespace}/jsonplane-keyring/`);
        expect((await conditions())["Contested"]).toBeUndefined();
      },
      { withinMs: 90_000, everyMs: 500 },
    );
    expect(await fleet.secret(place.namespace, "web-api-key", "apiKey")).toBe(key);
    await eventually(async () => {
      expect(await fleet.secret(place.namespace, "web-api-key", "baseURL")).toBe(`${otherUrl}/${place.namespace}/shop`);
    }, within);
  });
});
