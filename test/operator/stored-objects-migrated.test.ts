// Stored objects are migrated to a new schema, from the manifest to the status, on a fleet.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import type { Replica } from "../support/fleet/replica.ts";
import { send } from "../support/http/http-client.ts";
import { declared, tenantAt } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

let fleet: OwnFleet;

beforeAll(async () => {
  fleet = await startFleet({ replicas: 2 });
});
afterAll(() => fleet.stop());

const patience = { withinMs: 60_000, everyMs: 100 };

test("with migrate stored objects are brought into the form of a new schema, although a replica is killed and clients write by the former one", async () => {
  const namespace = await fleet.api.namespace();
  const tenant = tenantAt(fleet, namespace);
  const refuse = { schemaChange: { storedObjects: "Refuse" } };
  await tenant.create(
    declared("Project", "shop", { authentication: { policy: "Disabled" } }),
    declared("ApiResource", "books", { schema: { type: "object" }, ...refuse }),
  );
  await fleet.ready(namespace);
  const path = `/${namespace}/shop/api/books`;
  const [first, killed] = fleet.replicas as [Replica, Replica];
  const create = (n: number) => send(first.origin, path, { method: "POST", body: { label: `n${n}` } });
  const ids = new Set<string>();
  let written = 0;
  /** Until one is refused. */
  const writeMore = async (count: number): Promise<boolean> => {
    const replies = await Promise.all(Array.from({ length: count }, (_, at) => create(written + at)));
    const created = replies.filter(({ status }) => status === 201);
    const refused = replies.filter(({ status }) => status === 400);
    expect(created.length + refused.length).toBe(count);
    for (const reply of created) ids.add(reply.json<{ id: string }>().id);
    written += count;
    return refused.length === 0;
  };
  while (written < 1_000) expect(await writeMore(50)).toBe(true);

  const migrate = [{ op: "move", from: "/label", path: "/title" }];
  const schema = {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string" } },
    additionalProperties: false,
  };
  await tenant.edit("ApiResource", "books", { schema, schemaChange: { storedObjects: "Refuse", migrate } });
  await tenant.reports("ApiResource", "books", "CheckingStoredObjects", patience);
  await killed.stop("SIGKILL");
  // A client that doesn't know of it is refused once the schema is live, and not before.
  while (await writeMore(5)) await sleep(50);
  await eventually(async () => {
    const { status } = await tenant.get("ApiResource", "books");
    const storedObjects = { invalid: 0, migrated: expect.any(Number) };
    expect(status).toMatchObject({ liveGeneration: 2, storedObjects });
  }, patience);
  const found = new Set<string>();
  for (let offset = 0; offset < ids.size; offset += 100) {
    const page = await send(first.origin, `${path}?_limit=100&_offset=${offset}`);
    for (const { id, title } of page.json<{ items: { id: string; title?: string }[] }>().items) {
      expect(title).toMatch(/^n\d+$/);
      found.add(id);
    }
  }
  expect(found).toEqual(ids);
});
