// Stored objects are checked after their schema has changed, from the manifest to the status, on a
// fleet.

import { beforeAll, expect, test } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { send } from "../support/http/http-client.ts";
import { declared, tenantAt } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import { firstOf } from "./edited-shop.ts";

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

const patience = { withinMs: 60_000, everyMs: 100 };
const books = (properties: object, more: object = {}) =>
  declared("ApiResource", "books", {
    schema: { type: "object", properties },
    schemaChange: { storedObjects: "Report" },
    ...more,
  });

test("a changed schema is live at once; the status says how many stored objects don't meet it, and one Event", async () => {
  const namespace = await fleet.api.namespace();
  const tenant = tenantAt(fleet, namespace);
  await tenant.create(declared("Project", "shop", { authentication: { policy: "Disabled" } }), books({}));
  await fleet.ready(namespace);
  const path = `/${namespace}/shop/api/books`;
  const create = (body: object) => firstOf(fleet).send(path, { method: "POST", body });
  const ids: string[] = [];
  for (const price of ["ten", "eleven", 12]) ids.push((await create({ price })).json<{ id: string }>().id);
  const stored = async () => (await tenant.get("ApiResource", "books")).status?.["storedObjects"];
  await eventually(
    async () => expect(await stored()).toMatchObject({ checked: expect.any(Number), invalid: 0 }),
    patience,
  );

  await tenant.edit("ApiResource", "books", { schema: { type: "object", properties: { price: { type: "number" } } } });
  const example = { pointer: "/price", keyword: "type" };
  await eventually(
    async () =>
      expect(await stored()).toEqual({
        observedGeneration: 2,
        schema: expect.stringMatching(/^[0-9a-f]{32}$/),
        checked: 3,
        invalid: 2,
        examples: [
          { id: ids[0], ...example },
          { id: ids[1], ...example },
        ],
        checkedAt: expect.any(String),
      }),
    patience,
  );
  expect((await create({ price: "x" })).status).toBe(400);
  const list = await firstOf(fleet).send(`${path}?_valid=false&_fields=price`);
  expect(list.json()).toMatchObject({
    count: 2,
    items: [
      { id: ids[0], price: "ten" },
      { id: ids[1], price: "eleven" },
    ],
  });

  // Another part of the spec changes nothing of it.
  await tenant.edit("ApiResource", "books", { limits: { maxObjects: 7 } });
  await eventually(async () => expect(await stored()).toMatchObject({ observedGeneration: 3, invalid: 2 }), patience);
  const events = (await tenant.events("ApiResource", "books")).filter(
    ({ reason }) => reason === "StoredObjectsInvalid",
  );
  expect(events.map(({ note, type }) => [type, note])).toEqual([
    [
      "Warning",
      `2 of 3 stored objects don't meet the schema, such as ${ids[0]} at /price (type); GET /api/books?_valid=false lists them`,
    ],
  ]);

  await tenant.edit("ApiResource", "books", { schemaChange: null });
  await eventually(async () => expect(await stored()).toBeUndefined(), patience);
});

test("with Refuse a new schema is live once all stored objects meet it; until then writes have to meet both, and one that some break is refused", async () => {
  const namespace = await fleet.api.namespace();
  const tenant = tenantAt(fleet, namespace);
  const refuse = { schemaChange: { storedObjects: "Refuse" } };
  await tenant.create(declared("Project", "shop", { authentication: { policy: "Disabled" } }), books({}, refuse));
  await fleet.ready(namespace);
  const path = `/${namespace}/shop/api/books`;
  const create = (body: object, at = 0) => send(fleet.replicas[at % 2]?.origin ?? "", path, { method: "POST", body });
  const { id } = (await create({ price: "ten" })).json<{ id: string }>();
  expect((await create({ price: 11 })).status).toBe(201);
  const schema = { type: "object", properties: { price: { type: "number" } } };

  await tenant.edit("ApiResource", "books", { schema });
  await tenant.reports("ApiResource", "books", "CheckingStoredObjects", patience);
  // Replicas serve it a moment later, and say so before anything is checked.
  const conditions = await tenant.reports("ApiResource", "books", "StoredObjectsInvalid", patience);
  expect(conditions.Accepted?.message).toContain(
    `1 of 2 stored objects doesn't meet this schema, such as ${id} at /price (type)`,
  );
  const { status } = await tenant.get("ApiResource", "books");
  expect(status).toMatchObject({
    liveGeneration: 1,
    storedObjects: { observedGeneration: 2, checked: 2, invalid: 1, examples: [{ id, pointer: "/price" }] },
  });
  await eventually(async () => {
    for (const at of [0, 1]) expect((await create({ price: "free" }, at)).status).toBe(201);
  }, patience);

  // What is wrong is removed; the edit has it tried again.
  const wrong = await send(firstOf(fleet).origin, `${path}?_limit=100`);
  for (const item of wrong.json<{ items: { id: string; price: unknown }[] }>().items) {
    if (typeof item.price === "string") await send(firstOf(fleet).origin, `${path}/${item.id}`, { method: "DELETE" });
  }
  await tenant.edit("ApiResource", "books", { limits: { maxObjects: 77 } });
  await tenant.reports("ApiResource", "books", "Ready", patience);
  for (const at of [0, 1]) expect((await create({ price: "free" }, at)).status).toBe(400);
  const live = await tenant.get("ApiResource", "books");
  expect(live.status).toMatchObject({ liveGeneration: 3, storedObjects: { observedGeneration: 3, invalid: 0 } });
});
