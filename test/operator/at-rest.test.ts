// Where nothing changes, nothing is written: not when the same manifests are applied again and
// again, nor when an operator starts.

import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { freeLease } from "../support/fleet/free-lease.ts";
import { shop } from "../support/fleet/shop.ts";
import { customResources, objectsIn } from "../support/kubernetes/api-server/api-server-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import { countForTier } from "../support/time/test-tier.ts";
import { openConnections } from "./open-connections.ts";
import { isLease, type OperatorUser, operatorUserOf, writesOf } from "./operator-users.ts";
import { configurationIn, watchCommands } from "./redis-commands.ts";

/**
 * Of the loop that applies the same again: longer than what the operator looks after every two and
 * five seconds; every minute at night.
 */
const seconds = countForTier(8, 150);
const bookshop = fileURLToPath(new URL("../../examples/bookshop.yaml", import.meta.url));

let fleet: OwnFleet;
let manifests: string;
/** One where manifests are applied by the server, one where kubectl merges them. */
let namespaces: readonly [string, string];
let named = 0;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true } });
  await startOperator();
  await fleet.addReplica();
  manifests = await readFile(bookshop, "utf8");
  namespaces = [await fleet.api.namespace("server-side"), await fleet.api.namespace("client-side")];
  await applyBoth();
  for (const namespace of namespaces) await fleet.ready(namespace);
  await settled();
});
afterAll(() => fleet?.stop());

async function startOperator(): Promise<OperatorUser> {
  named += 1;
  const user = await operatorUserOf(fleet.api, `operator-${named}`);
  await fleet.addOperator({ kubeconfig: await fleet.api.kubeconfig(user), args: ["--lease-duration", "60s"] });
  return user;
}

async function applyBoth(): Promise<void> {
  const [server, client] = namespaces;
  await fleet.api.apply(manifests, { namespace: server });
  await fleet.api.kubectl(["apply", "--namespace", client, "-f", "-"], { input: manifests });
}

/** resourceVersions of everything that an operator writes, by object. */
async function versions(): Promise<readonly string[]> {
  const found = await Promise.all(
    namespaces.map(async (namespace) => [
      ...(await customResources(fleet.api, namespace)),
      ...(await objectsIn(fleet.api, `/api/v1/namespaces/${namespace}/secrets`)),
      ...(await objectsIn(fleet.api, `/apis/events.k8s.io/v1/namespaces/${namespace}/events`)),
    ]),
  );
  return found.flat().map(({ metadata = {} }) => `${metadata["uid"]} ${metadata["resourceVersion"]}`);
}

/** What was Ready has been written down everywhere: Events come a moment later than statuses. */
async function settled(): Promise<void> {
  let before: readonly string[] = [];
  await eventually(
    async () => {
      const now = await versions();
      const isSame = now.join() === before.join();
      before = now;
      expect(isSame).toBe(true);
    },
    { withinMs: 60_000, everyMs: 2_000 },
  );
}

async function untilLeading(): Promise<void> {
  await eventually(async () => expect(await fleet.operators.at(-1)?.leads()).toBe(true), { withinMs: 60_000 });
}

/** Writes but those of the Lease, which is renewed all the time. */
async function written(user: OperatorUser): Promise<readonly string[]> {
  const writes = (await writesOf(fleet.api, user)).filter((request) => !isLease(request));
  return writes.map(({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace}/${name}`);
}

describe("nothing is written", () => {
  it(`while the same manifests are applied every second for ${seconds} seconds`, async () => {
    const user = { namespace: "jsonplane-system", serviceAccount: "operator-1" };
    const before = await Promise.all([versions(), written(user), configurationIn(fleet.redis)]);
    const commands = await watchCommands(fleet.redis);
    for (const end = Date.now() + seconds * 1_000; Date.now() < end; ) {
      await Promise.all([applyBoth(), sleep(1_000)]);
    }
    const { reading, writing } = await commands.stop();
    expect(writing).toEqual([]);
    expect(reading.length).toBeGreaterThan(0);
    expect(await Promise.all([versions(), written(user), configurationIn(fleet.redis)])).toEqual(before);
  });

  it("when an operator starts as a standby, and when it takes over with nothing to change, but Lease and epoch", async () => {
    const before = await Promise.all([versions(), configurationIn(fleet.redis)]);
    const [leader] = fleet.operators;
    const user = await startOperator();
    await sleep(1_000);
    expect(await writesOf(fleet.api, user)).toEqual([]);
    await leader?.stop();
    await untilLeading();
    await everythingLookedAt();
    expect(await written(user)).toEqual([]);
    expect(await Promise.all([versions(), configurationIn(fleet.redis)])).toEqual(before);
  });

  it("when the only operator starts anew", async () => {
    const before = await Promise.all([versions(), configurationIn(fleet.redis)]);
    await fleet.operators.at(-1)?.stop("SIGKILL");
    await freeLease(fleet.api);
    const user = await startOperator();
    await untilLeading();
    await everythingLookedAt();
    expect(await written(user)).toEqual([]);
    expect(await Promise.all([versions(), configurationIn(fleet.redis)])).toEqual(before);
  });
});

async function everythingLookedAt(): Promise<void> {
  await eventually(() => expect(fleet.operators.at(-1)?.log()).toContain("All Projects are published"));
  // Whatever a look would have led to.
  await sleep(1_500);
}

describe("connections to the API server", () => {
  it("are 16 at most for calls, and one for each watch, while much is applied", async () => {
    const namespace = await fleet.api.namespace("many");
    const names = Array.from({ length: 30 }, (_, index) => `shop-${index}`);
    const operator = fleet.operators.at(-1);
    const port = Number(new URL(fleet.api.url).port);
    let most = 0;
    let done = false;
    const applying = fleet.api
      .apply(names.map((name) => shop({ name, keys: { [`${name}-key`]: "one" } })).join("\n---\n"), { namespace })
      .then(() => fleet.ready(namespace))
      .finally(() => {
        done = true;
      });
    while (!done) {
      most = Math.max(most, (await openConnections(operator?.pid ?? 0, port)) ?? 1);
      await sleep(20);
    }
    await applying;
    expect(most).toBeGreaterThan(0);
    // A watch that is replaced has two for a moment.
    expect(most).toBeLessThanOrEqual(16 + 2 * watches);
  });
});

/** Five kinds, own Secrets, metadata of other Secrets, and namespaces. */
const watches = 8;
