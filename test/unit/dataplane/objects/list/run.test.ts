// Lists of a real store in memory whose page would be too long to hold.

import { expect, it } from "vitest";
import { systemClock } from "../../../../../core/clock.ts";
import { createScanSemaphore } from "../../../../../dataplane/objects/list/filter-and-sort.ts";
import { planQuery } from "../../../../../dataplane/objects/list/query-plan.ts";
import { listObjects } from "../../../../../dataplane/objects/list/run.ts";
import { createObjectIds } from "../../../../../dataplane/objects/object-ids.ts";
import { createEmbeddedStore } from "../../../../../dataplane/store/embedded/embedded-store.ts";

it("refuses a page of more than 16 MiB and says how to ask for less", async () => {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const newId = createObjectIds(systemClock);
  const collection = { project: { namespace: "default", name: "shop" }, resource: "films" };
  const pad = "x".repeat(2 * 1024 * 1024);
  for (let made = 0; made < 9; made += 1) {
    const { id } = newId();
    await store.create(collection, { id, owner: "apikey:ci", text: `{"id":"${id}","pad":"${pad}"}` }, 100);
  }
  const ask = (limit: number) =>
    listObjects({
      store,
      collection,
      indexes: [],
      visible: {},
      preconditions: undefined,
      plan: planQuery(
        { limit, offset: 0, order: { keys: [], descending: false }, filters: [], counted: true, suffix: "" },
        [],
      ),
      url: "http://127.0.0.1/api/films",
      onIndexMissing: () => undefined,
      scanSemaphore: createScanSemaphore(),
      onScan: () => undefined,
    });
  await expect(ask(9)).rejects.toMatchObject({ code: "query_too_expensive", message: /_limit/ });
  expect((await ask(7)).status).toBe(200);
  await store.close();
});
