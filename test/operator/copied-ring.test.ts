// Two installations whose key rings are copies of one another, as after a backup of the Secret was restored elsewhere, on one Redis:
// the one that is there keeps it, and the other one says so until that one is gone.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { ensureNamespace, objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { declared, newPlace, openBooks, type Place } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 90_000 };
const ring = "jsonplane-keyring";
const otherNamespace = "jsonplane-restored";
const contested = "jsonplane_redis_contested_total";

let fleet: OwnFleet;
let redis: Redis;
let first: OperatorProcess;
let second: OperatorProcess;
let theirs: Place;
let others: Place;

const epoch = () => redis.hget(configKeys.meta, "epoch");

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0 });
  redis = new Redis(fleet.redis.url);
  redis.on("error", () => undefined);
  [theirs, others] = await Promise.all([newPlace(fleet), newPlace(fleet)]);
  first = await fleet.addOperator({ args: ["--watch-namespaces", theirs.namespace] });
  await fleet.addReplica();
  await theirs.create(declared("Project", "shop"), openBooks());
  await fleet.ready(theirs.namespace);
});
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

async function restoreRingElsewhere(): Promise<void> {
  const { data } = await objectsOf(fleet.api, systemNamespace).get("Secret", ring);
  await ensureNamespace(fleet.api, otherNamespace);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: ring }, data };
  await objectsOf(fleet.api, otherNamespace).create(secret);
}

async function timesContested(operator: OperatorProcess): Promise<number> {
  const [, count] = new RegExp(`^${contested} (\\d+)$`, "m").exec(await operator.metrics()) ?? [];
  return Number(count);
}

describe("a second installation with a copy of the key ring, on the same Redis", () => {
  it("leaves the configuration to the one that writes it and is there, and says in statuses what a person has to do", async () => {
    const before = await epoch();
    await restoreRingElsewhere();
    const args = ["--operator-namespace", otherNamespace, "--watch-namespaces", others.namespace];
    second = await fleet.addOperator({ args });
    await others.create(declared("Project", "shop"), openBooks());
    await eventually(async () => {
      const { Ready } = await others.said("Project", "shop", "PublishFailed");
      expect(Ready?.message).toContain("copy of this one's key ring");
      expect(Ready?.message).toContain("--redis");
      expect(Ready?.message).not.toContain(systemNamespace);
    }, within);
    expect(await epoch()).toBe(before);
    expect(await redis.hkeys(configKeys.projects)).toEqual([`${theirs.namespace}/shop`]);
  });

  it("is told of by both, in log and metric", async () => {
    await eventually(async () => {
      expect(await timesContested(first)).toBeGreaterThan(0);
      expect(await timesContested(second)).toBeGreaterThan(0);
      expect(first.log()).toContain(`"${otherNamespace}"`);
      expect(second.log()).toContain(`"${systemNamespace}"`);
    }, within);
  });

  it("disturbs the first in nothing: it goes on as the writer that it was", async () => {
    const before = await epoch();
    await theirs.create(declared("ApiResource", "more", { access: { read: "Anyone" }, schema: { type: "object" } }));
    await theirs.said("ApiResource", "more", "Ready");
    const times = await timesContested(first);
    await eventually(async () => expect(await timesContested(first)).toBeGreaterThan(times), within);
    expect(await epoch()).toBe(before);
  });

  it("writes once the first is there no longer", async () => {
    await first.stop();
    await others.said("Project", "shop", "Ready", { withinMs: 120_000 });
    expect(await redis.hkeys(configKeys.projects)).toContain(`${theirs.namespace}/shop`);
  });
});
