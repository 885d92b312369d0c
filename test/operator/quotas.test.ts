// A quota from the custom resource to its status, on a fleet.

import { beforeAll, expect, test } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { send } from "../support/http/http-client.ts";
import { declared, openBooks, tenantAt } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import { firstOf } from "./edited-shop.ts";

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

const manifests = `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: {name: shop}
spec: {authentication: {policy: Disabled}}
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: {name: books}
spec: {projectRef: {name: shop}, schema: {type: object}}
`;

test("a quota is applied by every replica; the status says how much is used and stored, and one Event that it is nearly full", async () => {
  const namespace = await fleet.api.namespace();
  const tenant = tenantAt(fleet, namespace);
  await fleet.api.apply(manifests, { namespace });
  await fleet.ready(namespace);
  const create = (at: number) =>
    send(fleet.replicas[at % 2]?.origin ?? "", `/${namespace}/shop/api/books`, { method: "POST", body: { at } });
  for (let at = 0; at < 4; at += 1) expect((await create(at)).status).toBe(201);
  // A status follows at once what it never told before, and else once a minute.
  await tenant.edit("Project", "shop", { limits: { quota: { objects: 5, bytes: 1_048_576 } } });
  await eventually(
    async () => {
      const { status } = await tenant.get("Project", "shop");
      expect(status?.usage).toEqual([
        { quota: "objects", used: 4, limit: 5, nearlyFull: true },
        { quota: "bytes", used: expect.any(Number), limit: 1_048_576, nearlyFull: false },
      ]);
    },
    { withinMs: 100_000, everyMs: 100 },
  );
  // Replicas count, and the operator looks, about once a minute.
  await eventually(
    async () => {
      const { status } = await tenant.get("Project", "shop");
      expect(status?.storedObjectCount).toBe(4);
      const uses = status?.usage as readonly { readonly quota: string; readonly used: number }[];
      const bytes = uses.find(({ quota }) => quota === "bytes")?.used;
      expect(await wideColumns(namespace)).toMatchObject({ OBJECTS: "4", BYTES: String(bytes) });
    },
    { withinMs: 150_000, everyMs: 500 },
  );
  const reported = async () =>
    (await tenant.events("Project", "shop"))
      .filter(({ reason }) => reason === "QuotaNearlyFull")
      .map((event) => event.note);
  const note = "4 of 5 are used of the quota objects; a write that exceeds it is refused with 403";
  await eventually(async () => expect(await reported()).toEqual([note]), { withinMs: 60_000, everyMs: 250 });
  await eventually(async () => {
    const statuses = [(await create(0)).status, (await create(1)).status];
    expect(statuses).toEqual([403, 403]);
  });
});

/** Of the only Project, by the names of the columns. */
async function wideColumns(namespace: string): Promise<Readonly<Record<string, string | undefined>>> {
  const table = await fleet.api.kubectl(["get", "jproj", "--namespace", namespace, "--output", "wide"]);
  const [heads = "", line = ""] = table.split("\n");
  // Cells may be empty: a column begins below its head.
  const columns = [...heads.matchAll(/\S+ */g)].map(({ 0: head, index }) => [
    head.trim(),
    line.slice(index, index + head.length).trim(),
  ]);
  return Object.fromEntries(columns);
}

test("a quota is not passed by deleting resources and making others: what was kept counts, for the next Project of the name, too", async () => {
  const namespace = await fleet.api.namespace();
  const tenant = tenantAt(fleet, namespace);
  const spec = { authentication: { policy: "Disabled" }, limits: { quota: { objects: 2 } } };
  const films = declared("ApiResource", "films", { schema: { type: "object" } });
  await tenant.create(declared("Project", "shop", spec), openBooks());
  await fleet.ready(namespace);
  const create = async (resource: string) =>
    (await firstOf(fleet).send(`/${namespace}/shop/api/${resource}`, { method: "POST", body: {} })).status;
  for (const status of [201, 201, 403]) expect(await create("books")).toBe(status);
  await tenant.remove("ApiResource", "books");
  await tenant.create(films);
  await tenant.reports("ApiResource", "films", "Ready");
  expect(await create("films")).toBe(403);
  await tenant.remove("Project", "shop");
  await tenant.gone("Project", "shop");
  await tenant.create(declared("Project", "shop", spec));
  await tenant.reports("Project", "shop", "Ready");
  expect(await create("films")).toBe(403);
  // Whoever takes the name up again may delete them.
  await tenant.create(openBooks({ deletionPolicy: "Delete" }));
  await tenant.reports("ApiResource", "books", "Ready");
  await tenant.remove("ApiResource", "books");
  await tenant.gone("ApiResource", "books");
  await eventually(async () => expect(await create("films")).toBe(201), { withinMs: 60_000 });
});
