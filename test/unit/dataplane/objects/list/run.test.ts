// Lists of a real store in memory whose page would be too long to hold.

import { expect, it } from "vitest";
import { systemClock } from "../../../../../core/clock.ts";
import { WriteConflict } from "../../../../../core/errors/store-errors.ts";
import { compileSchema } from "../../../../../core/schema/compile-schema.ts";
import { createScanSemaphore } from "../../../../../dataplane/objects/list/filter-and-sort.ts";
import { planQuery } from "../../../../../dataplane/objects/list/query-plan.ts";
import { listObjects } from "../../../../../dataplane/objects/list/run.ts";
import { byCreation, type Order } from "../../../../../dataplane/objects/list/sort.ts";
import { createObjectIds } from "../../../../../dataplane/objects/object-ids.ts";
import { createEmbeddedStore } from "../../../../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../../../../dataplane/store/port.ts";
import type { Owner } from "../../../../../dataplane/store/ports/refs.ts";

const compiled = compileSchema({});
if (!compiled.ok) throw new Error("The schema is not valid");
const { schema } = compiled;
const collection = { project: { namespace: "default", name: "shop" }, resource: "films" };

function list(store: Store, { limit, order = byCreation, owner }: Asked) {
  return listObjects({
    store,
    collection,
    indexes: [],
    visible: owner === undefined ? {} : { owner },
    preconditions: undefined,
    plan: planQuery({ limit, offset: 0, order, filters: [], counted: true, tagged: false, suffix: "" }, [], {
      schema,
      maxBytes: 0,
    }),
    url: "http://127.0.0.1/api/films",
    onIndexMissing: () => undefined,
    scanSemaphore: createScanSemaphore(),
    onScan: () => undefined,
  });
}

interface Asked {
  readonly limit: number;
  readonly order?: Order;
  readonly owner?: Owner;
}

it("refuses a page of more than 16 MiB and says how to ask for less", async () => {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const newId = createObjectIds(systemClock);
  const pad = "x".repeat(2 * 1024 * 1024);
  for (let made = 0; made < 9; made += 1) {
    const { id } = newId();
    await store.create(collection, { id, owner: "apikey:ci", text: `{"id":"${id}","pad":"${pad}"}` }, 100);
  }
  await expect(list(store, { limit: 9 })).rejects.toMatchObject({ code: "query_too_expensive", message: /_limit/ });
  expect((await list(store, { limit: 7 })).status).toBe(200);
  await store.close();
});

it("says that entries of owners are missing where they were dropped during a scan of too many objects", async () => {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const dropped: Store = {
    ...store,
    async *scan(_collection, _visible, range) {
      yield [];
      throw new WriteConflict(`More than ${range?.max}`);
    },
  };
  const order: Order = { keys: [{ name: "year", path: ["year"], descending: false }], descending: false };
  const asked = { limit: 10, order, owner: "user:u1" };
  await expect(list(dropped, asked)).rejects.toMatchObject({ code: "index_building", message: /_metadata\.creator/ });
  await store.close();
});
