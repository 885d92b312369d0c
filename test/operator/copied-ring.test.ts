// Two installations whose key rings are copies of one another, as after a backup of the Secret was
// restored elsewhere, on one Redis: it stays with the one that has it, there or away, until a
// person gives it to the other one. Whoever loses it says so of all its objects.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { ensureNamespace, objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 90_000 };
const ring = "jsonplane-keyring";
const otherNamespace = "jsonplane-restored";
const refused = "Not writing to Redis";

let fleet: OwnFleet;
let redis: Redis;
let first: OperatorProcess;
let second: OperatorProcess;
let theirs: Tenant;
let others: Tenant;

const epoch = () => redis.hget(configKeys.meta, "epoch");
const served = async () => (await redis.hkeys(configKeys.projects)).toSorted();
const startFirst = async (...args: string[]): Promise<void> => {
  first = await fleet.addOperator({ args: ["--watch-namespaces", theirs.namespace, ...args] });
};
const startSecond = async (...args: string[]): Promise<void> => {
  const own = ["--operator-namespace", otherNamespace, "--watch-namespaces", others.namespace];
  second = await fleet.addOperator({ args: [...own, ...args] });
};

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0 });
  redis = new Redis(fleet.redis.url);
  redis.on("error", () => undefined);
  [theirs, others] = await Promise.all([newTenant(fleet), newTenant(fleet)]);
  await startFirst();
  await fleet.addReplica();
  await theirs.create(declared("Project", "shop"), openBooks());
  await fleet.ready(theirs.namespace);
});
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

async function restoreRing(namespace: string): Promise<void> {
  const { data } = await objectsOf(fleet.api, systemNamespace).get("Secret", ring);
  await ensureNamespace(fleet.api, namespace);
  const secrets = objectsOf(fleet.api, namespace);
  if (namespace === systemNamespace) await secrets.remove("Secret", ring);
  await secrets.create({ apiVersion: "v1", kind: "Secret", metadata: { name: ring }, data });
}

/** The operator has looked at the Redis some times more, and left it to the other one. */
async function lookedOn(operator: OperatorProcess): Promise<void> {
  const looks = async (): Promise<number> => {
    const [, count] = /^jsonplane_redis_contested_total (\d+)$/m.exec(await operator.metrics()) ?? [];
    return Number(count);
  };
  const before = await looks();
  await eventually(async () => expect(await looks()).toBeGreaterThan(before + 2), within);
}

/**
 * Every object of the tenant says that the Redis is another installation's, and of none that it is
 * served.
 */
async function saysRefused(tenant: Tenant): Promise<void> {
  for (const [kind, name] of [
    ["Project", "shop"],
    ["ApiResource", "books"],
  ] as const) {
    const { Ready, Programmed } = await tenant.reports(kind, name, "RedisContested", within);
    expect([Ready?.status, Programmed?.status]).toEqual(["False", "False"]);
    expect(Ready?.message).toContain("belongs to another installation");
    expect(Ready?.message).toContain("--redis");
    expect(Ready?.message).toContain("--adopt-data");
    expect(Ready?.message).not.toContain(systemNamespace);
    expect(Ready?.message).not.toContain(otherNamespace);
  }
}

const timesLogged = (operator: OperatorProcess, message: string): number => operator.log().split(message).length - 1;

describe("a second installation with a copy of the key ring, on the same Redis", () => {
  it("leaves it to the first, and says in statuses what a person can do", async () => {
    const before = await epoch();
    await restoreRing(otherNamespace);
    await startSecond();
    await others.create(declared("Project", "shop"), openBooks());
    await saysRefused(others);
    expect(await epoch()).toBe(before);
    expect(await served()).toEqual([`${theirs.namespace}/shop`]);
  });

  it("tells of it once in its log, with the namespace of the first, and counts each look", async () => {
    await lookedOn(second);
    expect(timesLogged(second, refused)).toBe(1);
    expect(second.log()).toContain(`"${systemNamespace}/`);
    expect(timesLogged(second, "Maintenance failed")).toBe(0);
    expect(timesLogged(second, "Failed to reconcile Project")).toBe(0);
  });

  it("disturbs the first in nothing: it goes on as the writer that it was", async () => {
    const before = await epoch();
    await theirs.create(declared("ApiResource", "more", { access: { read: "Anyone" }, schema: { type: "object" } }));
    await theirs.reports("ApiResource", "more", "Ready");
    await lookedOn(second);
    expect(await epoch()).toBe(before);
  });

  it("takes nothing while the first is away, which goes on when it is back, also with its own Secret from a backup", async () => {
    const before = await epoch();
    await first.stop();
    await lookedOn(second);
    expect([await epoch(), await served()]).toEqual([before, [`${theirs.namespace}/shop`]]);
    await restoreRing(systemNamespace);
    await startFirst();
    await eventually(async () => expect(await epoch()).not.toBe(before), within);
    await theirs.create(declared("ApiResource", "again", { access: { read: "Anyone" }, schema: { type: "object" } }));
    await theirs.reports("ApiResource", "again", "Ready");
  });

  it("takes it with --adopt-data; then the first says of all its objects that they may be served no more, and is quiet", async () => {
    await second.stop();
    await startSecond("--adopt-data");
    for (const kind of ["Project", "ApiResource"] as const) {
      await others.reports(kind, kind === "Project" ? "shop" : "books", "Ready", within);
    }
    await saysRefused(theirs);
    const after = await epoch();
    await lookedOn(first);
    expect([timesLogged(first, refused), await epoch()]).toEqual([1, after]);
    expect(await served()).toContain(`${others.namespace}/shop`);
  });

  it("leaves it again when a person has given it back, though it was told to take it", async () => {
    await first.stop();
    await startFirst("--adopt-data");
    await fleet.ready(theirs.namespace);
    await saysRefused(others);
    const after = await epoch();
    await lookedOn(second);
    expect(await epoch()).toBe(after);
  });

  it("takes it no more when it is started without", async () => {
    await second.stop();
    const after = await epoch();
    await startSecond();
    await lookedOn(second);
    expect(await epoch()).toBe(after);
  });
});
