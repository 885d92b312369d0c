// Whatever the order in which manifests come, all end Ready and served; meanwhile each says what it
// waits for.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import {
  conditionsOf,
  type Declared,
  type DeclaredKind,
  newTenant,
  type Tenant,
} from "../support/kubernetes/declared.ts";
import { kstatusOf } from "../support/kubernetes/kstatus.ts";
import { eventually } from "../support/time/eventually.ts";
import { countForTier, testSeed } from "../support/time/test-tier.ts";

const file = fileURLToPath(new URL("../../examples/bookshop.yaml", import.meta.url));

let fleet: Fleet;
let project: Declared;
let children: readonly Declared[];

beforeAll(async () => {
  const objects = parseAllDocuments(await readFile(file, "utf8")).map((each) => each.toJS() as Declared);
  const [first, ...rest] = objects;
  if (first?.kind !== "Project") throw new Error("The example does not begin with its Project");
  project = first;
  children = rest;
  fleet = await sharedFleet();
});

async function expectServed({ namespace }: Tenant): Promise<void> {
  await fleet.ready(namespace);
  const key = await fleet.secret(namespace, "back-office-api-key", "apiKey");
  const password = await fleet.secret(namespace, "ada-password", "password");
  const ada = `Basic ${Buffer.from(`ada:${password}`).toString("base64")}`;
  const base = `/${namespace}/bookshop`;
  for (const replica of fleet.replicas) {
    const body = { title: "Momo", author: { name: "Ende" }, price: 12 };
    const as = `apikey ${key}`;
    expect((await replica.send(`${base}/api/books`, { method: "POST", body, as })).status).toBe(201);
    expect((await replica.send(`${base}/sessions/`, { method: "POST", as: ada })).status).toBe(201);
    expect((await replica.send(`${base}/json/settings/currency`)).text).toBe('"EUR"');
    expect((await replica.send(`${base}/api/orders`, { as })).status).toBe(200);
  }
}

async function statusesOf(tenant: Tenant, objects: readonly Declared[]) {
  return Promise.all(objects.map(async ({ kind, metadata }) => tenant.get(kind, metadata.name)));
}

/** True children that wait, and nothing of the project served anywhere. */
async function expectWaiting(tenant: Tenant, waiting: readonly Declared[]): Promise<void> {
  await eventually(
    async () => {
      for (const object of await statusesOf(tenant, waiting)) {
        const { Accepted, Programmed, Ready, Reconciling, Stalled } = conditionsOf(object);
        expect([Accepted?.status, Programmed?.status, Ready?.status, Reconciling?.status]).toEqual([
          "False",
          "False",
          "False",
          "True",
        ]);
        expect(Ready?.reason).toBe("ProjectNotFound");
        expect(Ready?.message).toContain(`Namespace "${tenant.namespace}" has no Project "bookshop"`);
        expect(Stalled).toBeUndefined();
        expect(object.status?.["liveGeneration"]).toBeUndefined();
        expect(kstatusOf(object)).toBe("InProgress");
      }
    },
    { withinMs: 60_000 },
  );
  for (const replica of fleet.replicas) {
    expect((await replica.send(`/${tenant.namespace}/bookshop/api/books`)).code).toBe("unknown_project");
  }
}

describe("the bookshop, applied", () => {
  it("all at once, is served", async () => {
    const tenant = await newTenant(fleet);
    await Promise.all([project, ...children].map((each) => tenant.create(each)));
    await expectServed(tenant);
  });

  it("with its children first and its Project last, waits for the Project, says so, and is served then", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(...children);
    await expectWaiting(tenant, children);
    await tenant.create(project);
    await expectServed(tenant);
  });

  it("with its Project first, is served as each child comes", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(project);
    await tenant.reports("Project", "bookshop", "Ready");
    await tenant.create(...children);
    await expectServed(tenant);
  });

  const random = fc.sample(fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8], { minLength: 9 }), {
    numRuns: countForTier(2, 20),
    seed: testSeed(),
  });
  for (const order of random) {
    it(`one by one in the order ${order.join(" ")}, tells the truth after each and is served in the end`, async () => {
      const tenant = await newTenant(fleet);
      const all = [project, ...children];
      expect(all).toHaveLength(order.length);
      let isThere = false;
      for (const at of order) {
        const object = all[at] as Declared;
        isThere ||= object === project;
        await tenant.create(object);
        const { kind, metadata } = object;
        await tenant.reports(kind as DeclaredKind, metadata.name, isThere ? "Ready" : "ProjectNotFound");
      }
      await expectServed(tenant);
    });
  }

  it("and its Project deleted and made again, is served again with the same credentials and data", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(project, ...children);
    await expectServed(tenant);
    const { namespace } = tenant;
    const key = await fleet.secret(namespace, "back-office-api-key", "apiKey");
    await tenant.remove("Project", "bookshop");
    await tenant.gone("Project", "bookshop");
    for (const { kind, metadata } of children) {
      await tenant.reports(kind as DeclaredKind, metadata.name, "ProjectNotFound");
    }
    await tenant.create(project);
    await expectServed(tenant);
    expect(await fleet.secret(namespace, "back-office-api-key", "apiKey")).toBe(key);
    const list = await fleet.replicas[0]?.send(`/${namespace}/bookshop/api/books`);
    expect(list?.json()).toMatchObject({ count: 4 });
  });
});
