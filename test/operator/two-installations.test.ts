// Two installations of one class in one cluster, each with an operator, a key ring and a Redis of its own: a Project stays with the one
// that made its Secrets, for as long as that one can come back.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, publicUrl, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { shop } from "../support/fleet/shop.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { ensureNamespace } from "../support/kubernetes/api-server/api-server-objects.ts";
import {
  type Conditions,
  conditionsOf,
  type Declared,
  type DeclaredKind,
  declared,
  newTenant,
  openBooks,
  type Tenant,
} from "../support/kubernetes/declared.ts";
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

const conditions = async (project = "shop"): Promise<Conditions> => conditionsOf(await tenant.get("Project", project));

/** What an operator wrote, but its Lease and Events. */
async function written(user: OperatorUser): Promise<readonly string[]> {
  const writes = (await writesOf(fleet.api, user)).filter((each) => !isLease(each) && !/events/.test(each.resource));
  return writes.map(({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace}/${name}`);
}

async function contested(project = "shop"): Promise<void> {
  await eventually(async () => expect((await conditions(project))["Contested"]?.status).toBe("True"), within);
}

/** Its data go with it. */
const heldBooks = (project: string): Declared => openBooks({ projectRef: { name: project }, deletionPolicy: "Delete" });

/** It waits for the first, which is away, and names what a person can do. */
async function saysHeld(resource: string): Promise<void> {
  const { Contested } = await eventually(async () => {
    const reported = await tenant.reports("ApiResource", resource, "Deleting", within);
    expect(reported["Contested"]?.status).toBe("True");
    return reported;
  }, within);
  expect(Contested?.reason).toBe("Deleting");
  expect(Contested?.message).toContain(`in namespace "${systemNamespace}" set its finalizer`);
  expect(Contested?.message).toContain("jsonplane finalizers clear");
}

/** Both would serve it; whoever sees it first does. */
async function createdForTheFirst(...objects: readonly Declared[]): Promise<void> {
  const second = fleet.operators.at(-1);
  second?.signal("SIGSTOP");
  try {
    await tenant.create(...objects);
    for (const { kind, metadata } of objects) await tenant.reports(kind as DeclaredKind, metadata.name, "Ready");
  } finally {
    second?.signal("SIGCONT");
  }
}

async function startSecond(...args: readonly string[]): Promise<void> {
  await fleet.addOperator({
    kubeconfig: await fleet.api.kubeconfig(users[1]),
    redis: otherRedis.url,
    publicUrl: otherUrl,
    args: ["--operator-namespace", otherNamespace, ...args],
  });
}

async function restartSecond(): Promise<void> {
  await fleet.operators.pop()?.stop();
  await startSecond();
  await eventually(async () => expect(await fleet.operators.at(-1)?.leads()).toBe(true), within);
  await lookedAgain();
}

/** The second one has seen a change of a Project that was made just now, and so all that was changed before it. */
async function lookedAgain(): Promise<void> {
  const looks = async (): Promise<number> => {
    const metrics = (await fleet.operators.at(-1)?.metrics()) ?? "";
    const counts = [...metrics.matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  for (const _ of [1, 2, 3]) {
    const before = await looks();
    await tenant.patch("Project", "shop", { metadata: { annotations: { "example.org/look": randomUUID() } } });
    await eventually(async () => expect(await looks()).toBeGreaterThan(before), within);
  }
}

async function failedLooks(operator: OperatorProcess | undefined): Promise<number> {
  const [, count] =
    /^controller_runtime_reconcile_total\{.*result="error".*\} (\d+)$/m.exec((await operator?.metrics()) ?? "") ?? [];
  return Number(count ?? 0);
}

async function served(url: string): Promise<void> {
  const project = await tenant.get("Project", "shop");
  expect(project.status?.["baseURL"]).toBe(`${url}/${tenant.namespace}/shop`);
  expect(conditionsOf(project)["Ready"]?.status).toBe("True");
  expect(await fleet.secret(tenant.namespace, "web-api-key", "baseURL")).toBe(`${url}/${tenant.namespace}/shop`);
  expect(await fleet.secret(tenant.namespace, "web-api-key", "apiKey")).toBe(key);
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
      `patch projects.jsonplane.io/status ${tenant.namespace}/shop`,
    ]);
    await served(publicUrl);
    await tenant.everywhere("/api/items", { as: `apikey ${key}` }, (reply) => expect(reply.status).toBe(200));
  });

  it("leaves new objects of it to the first", async () => {
    await fleet.api.apply(shop({ keys: { web: "one", more: "one" } }), { namespace: tenant.namespace });
    await fleet.ready(tenant.namespace);
    await sleep(1_000);
    await fleet.ready(tenant.namespace);
    const { metadata } = await tenant.get("Secret", "more-api-key");
    expect(metadata.annotations?.["jsonplane.io/installation"]).toContain(`${systemNamespace}/`);
    expect((await written(users[1])).filter((write) => write.endsWith("/more"))).toEqual([]);
  });

  it("says nothing of what is edited while its own Redis is away, and the first has not looked yet", async () => {
    const [first, second] = fleet.operators;
    await otherRedis.kill();
    first?.signal("SIGSTOP");
    try {
      await tenant.patch("ApiKey", "web", { spec: { description: "For the web" } });
      const before = await failedLooks(second);
      await eventually(async () => expect(await failedLooks(second)).toBeGreaterThan(before + 1), within);
      expect(conditionsOf(await tenant.get("ApiKey", "web"))["Ready"]?.status).toBe("True");
    } finally {
      first?.signal("SIGCONT");
      await otherRedis.restart();
    }
    await fleet.ready(tenant.namespace);
    await lookedAgain();
    expect((await written(users[1])).filter((write) => write.endsWith("/web"))).toEqual([]);
  });

  it("sets and drops no finalizer of the first, on an object whose Project is gone neither", async () => {
    await createdForTheFirst(declared("Project", "passing"), heldBooks("passing"));
    await contested("passing");
    await tenant.remove("Project", "passing");
    await tenant.reports("ApiResource", "books", "ProjectNotFound");
    // One that was not there when the Project was.
    await restartSecond();
    const [first] = fleet.operators;
    first?.signal("SIGSTOP");
    try {
      await tenant.remove("ApiResource", "books");
      await saysHeld("books");
    } finally {
      first?.signal("SIGCONT");
    }
    await tenant.gone("ApiResource", "books");
    await lookedAgain();
    expect(
      (await written(users[1])).filter((write) => write.includes("apiresources") && !write.includes("/status")),
    ).toEqual([]);
  });

  it("takes no Project without keys and users whose signing Secret somebody deleted", async () => {
    await createdForTheFirst(declared("Project", "bare"));
    await contested("bare");
    const [first] = fleet.operators;
    first?.signal("SIGSTOP");
    try {
      await tenant.remove("Secret", "bare-signing");
      await lookedAgain();
      expect(await tenant.names("Secret")).not.toContain("bare-signing");
    } finally {
      first?.signal("SIGCONT");
    }
    const { metadata } = await eventually(() => tenant.get("Secret", "bare-signing"), within);
    expect(metadata.annotations?.["jsonplane.io/installation"]).toContain(`${systemNamespace}/`);
  });

  it("frees its finalizers once the namespace of the first is gone, and takes it over with the keys in force as a person asks", async () => {
    await createdForTheFirst(declared("Project", "passed"), heldBooks("passed"));
    await tenant.remove("Project", "passed");
    await tenant.reports("ApiResource", "books", "ProjectNotFound");
    const [first] = fleet.operators;
    await first?.stop();
    await tenant.remove("ApiResource", "books");
    await saysHeld("books");
    const path = `/api/v1/namespaces/${systemNamespace}`;
    await apiObject(fleet.api, path, { method: "DELETE" });
    await eventually(() => expect(apiObject(fleet.api, path)).rejects.toThrow("NotFound"), within);
    // Nothing proves to this one what the first has made.
    await eventually(
      async () => {
        await tenant.patch("Project", "shop", { metadata: { annotations: { "example.org/look": randomUUID() } } });
        expect((await conditions())["Ready"]?.reason).toBe("SecretConflict");
      },
      { withinMs: 90_000, everyMs: 500 },
    );
    await tenant.gone("ApiResource", "books");
    await fleet.operators.pop()?.stop();
    await startSecond("--adopt-data");
    let looks = 0;
    await eventually(
      async () => {
        // It looks by itself, too, every minute; and the namespace may be gone before it is told of that.
        looks += 1;
        await tenant.patch("Project", "shop", { metadata: { annotations: { "example.org/look": String(looks) } } });
        const { metadata } = await tenant.get("Secret", "shop-signing");
        expect(metadata.annotations?.["jsonplane.io/installation"]).toContain(`${otherNamespace}/jsonplane-keyring/`);
        expect((await conditions())["Contested"]).toBeUndefined();
      },
      { withinMs: 90_000, everyMs: 500 },
    );
    expect(await fleet.secret(tenant.namespace, "web-api-key", "apiKey")).toBe(key);
    await eventually(async () => {
      expect(await fleet.secret(tenant.namespace, "web-api-key", "baseURL")).toBe(
        `${otherUrl}/${tenant.namespace}/shop`,
      );
    }, within);
  });
});
