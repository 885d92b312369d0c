// Data of a namespace that came back: served to nobody, and deleted by nobody, until a person says whose they are.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { declared, openBooks, type Place } from "../support/kubernetes/declared.ts";
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

const objectsOf = ({ namespace }: Place) => redis.zcard(`jp:{${namespace}/shop/books}:ids`);

describe.concurrent("data of an earlier namespace", () => {
  it("are found only once somebody says so: they may be another team's", async () => {
    const place = await namespaceThatCameBack(fleet);
    await place.create(declared("Project", "shop"), openBooks());
    const said = await place.said("Project", "shop", "RetainedDataFound", within);
    expect(said["Stalled"]?.status).toBe("True");
    await place.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    await place.patch("Project", "shop", { metadata: { annotations: { "jsonplane.io/adopt-data": "true" } } });
    await place.said("ApiResource", "books", "Ready");
    await bookCount(place, 1);
  });

  it("outlive a Project of the later one that says Delete, and its children, and wait for whoever adopts them", async () => {
    const place = await namespaceThatCameBack(fleet);
    await place.create(
      declared("Project", "shop", { deletionPolicy: "Delete" }),
      openBooks({ deletionPolicy: "Delete" }),
    );
    const { Ready } = await place.said("Project", "shop", "RetainedDataFound", within);
    expect(Ready?.message).toContain('jsonplane.io/adopt-data: "true"');
    await place.remove("ApiResource", "books");
    await place.remove("Project", "shop");
    await place.gone("ApiResource", "books");
    await place.gone("Project", "shop");
    expect(await objectsOf(place)).toBe(1);

    const annotations = { "jsonplane.io/adopt-data": "true" };
    const adopting = declared("Project", "shop", { deletionPolicy: "Delete" });
    await place.create({ ...adopting, metadata: { name: "shop", annotations } }, openBooks());
    await place.said("ApiResource", "books", "Ready", within);
    await bookCount(place, 1);
    await eventually(async () => {
      const reasons = (await place.events("Project", "shop")).map(({ reason }) => reason);
      expect(reasons).toContain("DataAdopted");
    }, within);
    // They are this namespace's now, and go as its others do.
    await place.remove("Project", "shop");
    await place.gone("Project", "shop");
    expect(await objectsOf(place)).toBe(0);
  });

  it("concern no Project of another name", async () => {
    const place = await namespaceThatCameBack(fleet);
    const other = { projectRef: { name: "store" } };
    await place.create(declared("Project", "store"), openBooks(other));
    await place.said("ApiResource", "books", "Ready", within);
    await place.create(declared("Project", "shop"));
    await place.said("Project", "shop", "RetainedDataFound", within);
    await place.said("Project", "store", "Ready");
  });
});
