import { describe, expect, it } from "vitest";
import type { DataOrder, KeptSize } from "../../../../core/config/data-order.ts";
import { createKeptSizes } from "../../../../operator/finalize/kept-sizes.ts";
import type { DataEntry, DataRecord } from "../../../../operator/model/data-record.ts";
import type { RolloutState } from "../../../../operator/publish/acknowledgements.ts";

function kept(name: string, more: Partial<DataEntry> = {}): DataEntry {
  const since = { retained: true, retainedAt: "2026-11-20T00:00:00.000Z" } as const;
  return { what: "resource", name, uid: `u-${name}`, namespaceUid: "n", ...since, ...more };
}

/** Orders as they stand in Redis, of which a test says the sizes. */
function world(entries: readonly DataEntry[], { looksAt = (): boolean => true } = {}) {
  const orders = new Map<string, DataOrder>();
  const sizes = new Map<string, KeptSize>();
  const enqueued: string[] = [];
  let records = recordsOf(entries);
  const keptSizes = createKeptSizes({ hasProject: () => true, looksAt, enqueue: (key) => void enqueued.push(key) });
  const purges = {
    order: async (id: string, order: DataOrder) => void orders.set(id, order),
    forget: async (id: string) => void orders.delete(id),
    sizes: async () => new Map([...orders.keys()].map((id) => [id, sizes.get(id)])),
  };
  return {
    orders,
    enqueued,
    of: () => keptSizes.of({ namespace: "shop", name: "store" }),
    record: (...next: readonly DataEntry[]) => {
      records = recordsOf(next);
    },
    measure(size: KeptSize) {
      for (const id of orders.keys()) sizes.set(id, size);
    },
    look: (rollout: RolloutState = "programmed") => keptSizes.look({ purges, records, rollout }),
  };
}

function recordsOf(entries: readonly DataEntry[]): ReadonlyMap<string, DataRecord> {
  return new Map([["shop/store", { policy: "Retain", projectUid: "p", entries }]]);
}

describe("kept data", () => {
  it("are measured by an order, handed over, and the order is forgotten once the size is on record", async () => {
    const { orders, enqueued, of, record, measure, look } = world([kept("books")]);
    await look();
    expect([...orders.values()]).toEqual([
      { what: "size", of: "resource", project: { namespace: "shop", name: "store" }, name: "books" },
    ]);
    measure({ objects: 2, bytes: 30 });
    await look();
    expect(enqueued).toEqual(["shop/store"]);
    expect(of()).toEqual(new Map([["resource:books", { objects: 2, bytes: 30 }]]));
    record(kept("books", { size: { objects: 2, bytes: 30 } }));
    await look();
    expect([orders.size, of().size]).toEqual([0, 0]);
  });

  it("are measured anew when they are kept a second time", async () => {
    const { orders, of, record, measure, look } = world([kept("books")]);
    await look();
    measure({ objects: 2, bytes: 30 });
    record(kept("books", { retainedAt: "2026-11-21T00:00:00.000Z" }));
    await look();
    expect(of().size).toBe(0);
    expect([...orders.keys()]).toEqual(["u-books:size:2026-11-21T00:00:00.000Z"]);
  });

  it("are measured a few at a time", async () => {
    const { orders, look } = world(Array.from({ length: 200 }, (_, at) => kept(`r${at}`)));
    await look();
    await look();
    expect(orders.size).toBe(50);
  });

  it("are not measured while they are served, purged, or may still be written to, nor where nobody looks", async () => {
    const served = world([
      kept("a", { retained: undefined, retainedAt: undefined } as unknown as DataEntry),
      kept("b", { purgeFromRevision: 3 }),
    ]);
    await served.look();
    const early = world([kept("books")]);
    await early.look("waiting");
    await early.look("no_replicas");
    const unseen = world([kept("books")], { looksAt: () => false });
    await unseen.look();
    expect([served.orders.size, early.orders.size, unseen.orders.size]).toEqual([0, 0, 0]);
  });
});
