// Two installations in one cluster, each with an operator, a key ring and a Redis of its own: a
// Project stays with the one that its status names, until a person moves it with --adopt-data.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, publicUrl, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { shop } from "../support/fleet/shop.ts";
import { ensureNamespace } from "../support/kubernetes/api-server/api-server-objects.ts";
import { conditionsOf, declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { isLease, type OperatorUser, operatorUserOf, writesOf } from "./operator-users.ts";

const within = { withinMs: 90_000 };
const otherNamespace = "jsonplane-other";
const otherUrl = "http://other.test";

let fleet: OwnFleet;
let otherRedis: TestRedis;
let users: readonly [OperatorUser, OperatorUser];
let tenant: Tenant;
let key: string;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true, controllers: ["namespace"] } });
  await ensureNamespace(fleet.api, otherNamespace);
  users = [await operatorUserOf(fleet.api, "one"), await operatorUserOf(fleet.api, "two", otherNamespace)];
  await fleet.addOperator({ kubeconfig: await fleet.api.kubeconfig(users[0]) });
  await fleet.addReplica();
  tenant = await newTenant(fleet);
  await fleet.api.apply(shop(), { namespace: tenant.namespace });
  await fleet.ready(tenant.namespace);
  key = await fleet.secret(tenant.namespace, "web-api-key", "apiKey");
  otherRedis = await startRedis();
  await startSecond();
});
afterAll(async () => {
  await fleet?.stop();
  await otherRedis?.stop();
});

/** What an operator wrote, but its Lease, Events, and what is in its own namespace. */
async function writtenBySecond(): Promise<readonly string[]> {
  const writes = (await writesOf(fleet.api, users[1])).filter(
    (each) => !isLease(each) && !/events/.test(each.resource),
  );
  return (
    writes
      .filter(({ namespace }) => namespace !== otherNamespace)
      .map(({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace}/${name}`)
      // It may try to take a Project that was removed while its process was stopped.
      .filter((write) => write !== `patch projects.jsonplane.io/status ${tenant.namespace}/gone`)
  );
}

async function startSecond(...args: readonly string[]): Promise<void> {
  await fleet.addOperator({
    kubeconfig: await fleet.api.kubeconfig(users[1]),
    redis: otherRedis.url,
    publicUrl: otherUrl,
    args: ["--operator-namespace", otherNamespace, ...args],
  });
}

const controllerOf = async (name = "shop"): Promise<unknown> =>
  (await tenant.get("Project", name)).status?.["controller"];

async function served(url: string, controller: string): Promise<void> {
  await eventually(async () => {
    const project = await tenant.get("Project", "shop");
    expect(project.status?.["controller"]).toBe(`${controller}/jsonplane-operator`);
    expect(project.status?.["baseURL"]).toBe(`${url}/${tenant.namespace}/shop`);
    expect(await fleet.secret(tenant.namespace, "web-api-key", "baseURL")).toBe(`${url}/${tenant.namespace}/shop`);
  }, within);
  expect(await fleet.secret(tenant.namespace, "web-api-key", "apiKey")).toBe(key);
}

async function atRest(): Promise<void> {
  let before: unknown;
  await eventually(
    async () => {
      const now = await Promise.all(
        users.map(async (user) => (await writesOf(fleet.api, user)).filter((each) => !isLease(each)).length),
      );
      const isSame = JSON.stringify(now) === JSON.stringify(before);
      before = now;
      expect(isSame).toBe(true);
    },
    { withinMs: 60_000, everyMs: 2_000 },
  );
}

describe("a second installation", () => {
  it("says in an Event that it leaves the Project alone, writes nothing of it, and both come to rest", async () => {
    const note = await eventually(async () => {
      const events = await tenant.events("Project", "shop");
      const found = events.find(({ reason }) => reason === "OtherController");
      if (found === undefined) throw new Error(`No such Event among ${JSON.stringify(events)}`);
      return found.note;
    }, within);
    expect(note).toContain(`${systemNamespace}/jsonplane-operator`);
    expect(note).toContain("--adopt-data");
    await atRest();
    expect(await writtenBySecond()).toEqual([]);
    await served(publicUrl, systemNamespace);
    expect(conditionsOf(await tenant.get("Project", "shop"))["Ready"]?.status).toBe("True");
    await tenant.everywhere("/api/items", { as: `apikey ${key}` }, (reply) => expect(reply.status).toBe(200));
  });

  it("keeps the finalizer that the first set on an object whose Project has gone", async () => {
    const [first, second] = fleet.operators;
    second?.signal("SIGSTOP");
    await tenant.create(
      declared("Project", "gone"),
      openBooks({ projectRef: { name: "gone" }, deletionPolicy: "Delete" }),
    );
    await tenant.reports("ApiResource", "books", "Ready");
    await tenant.remove("Project", "gone");
    await tenant.reports("ApiResource", "books", "ProjectNotFound");
    second?.signal("SIGCONT");
    first?.signal("SIGSTOP");
    try {
      await tenant.remove("ApiResource", "books");
      await atRest();
      expect((await tenant.get("ApiResource", "books")).metadata.finalizers).toEqual(["jsonplane.io/purge"]);
    } finally {
      first?.signal("SIGCONT");
    }
    await tenant.gone("ApiResource", "books");
  });

  it("leaves the Project and what comes to it to the first while that one is away", async () => {
    await fleet.operators.shift()?.stop();
    await fleet.api.apply(shop({ keys: { web: "one", more: "one" } }), { namespace: tenant.namespace });
    await tenant.remove("Secret", "shop-signing");
    await atRest();
    expect(await writtenBySecond()).toEqual([]);
    expect(await tenant.names("Secret")).not.toContain("shop-signing");
  });

  it("takes a new Project that no one has taken", async () => {
    await tenant.create(declared("Project", "blog"));
    await eventually(
      async () => expect(await controllerOf("blog")).toBe(`${otherNamespace}/jsonplane-operator`),
      within,
    );
  });

  it("takes everything with --adopt-data, with the keys in force, and keeps it without the flag", async () => {
    await tenant.edit("Project", "shop", { suspend: true });
    await fleet.operators.pop()?.stop();
    await startSecond("--adopt-data");
    await eventually(async () => expect(await controllerOf()).toBe(`${otherNamespace}/jsonplane-operator`), within);
    await tenant.reports("Project", "shop", "Suspended");
    await fleet.operators.pop()?.stop();
    await startSecond();
    await tenant.edit("Project", "shop", { suspend: false });
    await served(otherUrl, otherNamespace);
  });

  it("has the Project to itself: the first one, back again, no longer serves it", async () => {
    await fleet.addOperator({ kubeconfig: await fleet.api.kubeconfig(users[0]) });
    await tenant.everywhere("/api/items", { as: `apikey ${key}` }, (reply) => expect(reply.status).toBe(404));
    await atRest();
    await served(otherUrl, otherNamespace);
  });
});
