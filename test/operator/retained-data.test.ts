// Data of a namespace that came back: served to nobody, and deleted by nobody, until the platform
// says whose they are.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { declared, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { namespaceThatCameBack } from "../support/kubernetes/former-namespace.ts";

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
  it("are neither served nor deleted by whoever may edit the Project of now: they may be another team's", async () => {
    const tenant = await namespaceThatCameBack(fleet);
    await tenant.create(
      declared("Project", "shop", { deletionPolicy: "Delete" }),
      openBooks({ deletionPolicy: "Delete" }),
    );
    const { Ready, Stalled } = await tenant.reports("Project", "shop", "RetainedDataFound", within);
    expect([Stalled?.status, Ready?.message]).toEqual(["True", expect.not.stringContaining("jsonplane.io/")]);
    const annotations = { "jsonplane.io/adopt-data": "true" };
    await tenant.patch("Project", "shop", { metadata: { annotations } });
    await tenant.remove("ApiResource", "books");
    await tenant.remove("Project", "shop");
    await tenant.gone("ApiResource", "books");
    await tenant.gone("Project", "shop");
    await tenant.create({ ...declared("Project", "shop"), metadata: { name: "shop", annotations } }, openBooks());
    await tenant.reports("Project", "shop", "RetainedDataFound", within);
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    expect(await objectsOf(tenant)).toBe(1);
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
