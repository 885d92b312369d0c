// Data of a namespace that came back: served to nobody, and deleted by nobody, until a person says whose they are.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Declared, declared, newPlace, type Place } from "../support/declared.ts";
import { eventually } from "../support/eventually.ts";
import { type OwnFleet, startFleet } from "../support/fleet.ts";

const within = { withinMs: 60_000 };
const books = (spec: object = {}): Declared =>
  declared("ApiResource", "books", {
    access: { create: "Anyone", read: "Anyone", scope: { read: "All", write: "All" } },
    schema: { type: "object" },
    ...spec,
  });

let fleet: OwnFleet;
let redis: Redis;

beforeAll(async () => {
  fleet = await startFleet({ api: { controllers: ["namespace"] } });
  redis = new Redis(fleet.redis.url);
});
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

const objectsOf = ({ namespace }: Place) => redis.zcard(`jp:{${namespace}/shop/books}:ids`);

async function counted(place: Place, count: number): Promise<void> {
  const expectCount = (reply: { json<T>(): T }) => expect(reply.json<{ count: number }>().count).toBe(count);
  await place.everywhere("/api/books", {}, expectCount, within);
}

/** A namespace with data of an earlier one of its name. */
async function cameBack(): Promise<Place> {
  const place = await newPlace(fleet);
  await place.create(declared("Project", "shop"), books());
  await place.said("ApiResource", "books", "Ready", within);
  await place.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
  await fleet.api.kubectl(["delete", "namespace", place.namespace, "--timeout=60s"]);
  await place.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"), within);
  await fleet.api.kubectl(["create", "namespace", place.namespace]);
  return place;
}

async function gone(place: Place, kind: string, name: string): Promise<void> {
  await eventually(async () => {
    await expect(place.get(kind, name)).rejects.toThrow("NotFound");
  }, within);
}

describe("data of an earlier namespace", () => {
  it("outlive a Project of the later one that says Delete, and its children, and wait for whoever adopts them", async () => {
    const place = await cameBack();
    await place.create(declared("Project", "shop", { deletionPolicy: "Delete" }), books({ deletionPolicy: "Delete" }));
    const { Ready } = await place.said("Project", "shop", "RetainedDataFound", within);
    expect(Ready?.message).toContain('jsonplane.io/adopt-data: "true"');
    await place.remove("ApiResource", "books");
    await place.remove("Project", "shop");
    await gone(place, "ApiResource", "books");
    await gone(place, "Project", "shop");
    expect(await objectsOf(place)).toBe(1);

    const annotations = { "jsonplane.io/adopt-data": "true" };
    const adopting = declared("Project", "shop", { deletionPolicy: "Delete" });
    await place.create({ ...adopting, metadata: { name: "shop", annotations } }, books());
    await place.said("ApiResource", "books", "Ready", within);
    await counted(place, 1);
    expect((await place.events("Project", "shop")).map(({ reason }) => reason)).toContain("DataAdopted");
    // They are this namespace's now, and go as its others do.
    await place.remove("Project", "shop");
    await gone(place, "Project", "shop");
    expect(await objectsOf(place)).toBe(0);
  });

  it("concern no Project of another name", async () => {
    const place = await cameBack();
    const other = { projectRef: { name: "store" } };
    await place.create(declared("Project", "store"), books(other));
    await place.said("ApiResource", "books", "Ready", within);
    await place.create(declared("Project", "shop"));
    await place.said("Project", "shop", "RetainedDataFound", within);
    await place.said("Project", "store", "Ready");
  });

  it("are adopted by an operator that is told to, without an annotation: all of a cluster was lost", async () => {
    const [place, waiting] = [await cameBack(), await cameBack()];
    await waiting.create(declared("Project", "shop"), books());
    await waiting.said("Project", "shop", "RetainedDataFound", within);
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await fleet.addOperator({ args: ["--adopt-data"] });
    await place.create(declared("Project", "shop"), books());
    for (const each of [place, waiting]) {
      await each.said("ApiResource", "books", "Ready", within);
      await counted(each, 1);
    }
  });
});
