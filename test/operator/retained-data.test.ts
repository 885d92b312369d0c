// Data of a namespace that came back: served to nobody, and deleted by nobody, until a person says whose they are.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { declared, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { bookCount, namespaceThatCameBack } from "../support/kubernetes/former-namespace.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 60_000 };
let fleet: Fleet;
let redis: Redis;

beforeAll(async () => {
  fleet = await sharedFleet();
  redis = new Redis(fleet.redis.url);
});
afterAll(() => redis?.disconnect());

const objectsOf = ({ namespace }: Tenant) => redis.zcard(`jp:{${namespace}/shop/books}:ids`);

describe.concurrent("data of an earlier namespace", () => {
  it("are found only once somebody says so: they may be another team's", async () => {
    const tenant = await namespaceThatCameBack(fleet);
    await tenant.create(declared("Project", "shop"), openBooks());
    const reported = await tenant.reports("Project", "shop", "RetainedDataFound", within);
    expect(reported["Stalled"]?.status).toBe("True");
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    await tenant.patch("Project", "shop", { metadata: { annotations: { "jsonplane.io/adopt-data": "true" } } });
    await tenant.reports("ApiResource", "books", "Ready");
    await bookCount(tenant, 1);
  });

  it("outlive a Project of the later one that says Delete, and its children, and wait for whoever adopts them", async () => {
    const tenant = await namespaceThatCameBack(fleet);
    await tenant.create(
      declared("Project", "shop", { deletionPolicy: "Delete" }),
      openBooks({ deletionPolicy: "Delete" }),
    );
    const { Ready } = await tenant.reports("Project", "shop", "RetainedDataFound", within);
    expect(Ready?.message).toContain('jsonplane.io/adopt-data: "true"');
    await tenant.remove("ApiResource", "books");
    await tenant.remove("Project", "shop");
    await tenant.gone("ApiResource", "books");
    await tenant.gone("Project", "shop");
    expect(await objectsOf(tenant)).toBe(1);

    const annotations = { "jsonplane.io/adopt-data": "true" };
    const adopting = declared("Project", "shop", { deletionPolicy: "Delete" });
    await tenant.create({ ...adopting, metadata: { name: "shop", annotations } }, openBooks());
    await tenant.reports("ApiResource", "books", "Ready", within);
    await bookCount(tenant, 1);
    await eventually(async () => {
      const reasons = (await tenant.events("Project", "shop")).map(({ reason }) => reason);
      expect(reasons).toContain("DataAdopted");
    }, within);
    // They are this namespace's now, and go as its others do.
    await tenant.remove("Project", "shop");
    await tenant.gone("Project", "shop");
    expect(await objectsOf(tenant)).toBe(0);
  });

  it("concern no Project of another name", async () => {
    const tenant = await namespaceThatCameBack(fleet);
    const other = { projectRef: { name: "store" } };
    await tenant.create(declared("Project", "store"), openBooks(other));
    await tenant.reports("ApiResource", "books", "Ready", within);
    await tenant.create(declared("Project", "shop"));
    await tenant.reports("Project", "shop", "RetainedDataFound", within);
    await tenant.reports("Project", "store", "Ready");
  });
});
