import { expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import type { DataRecord } from "../../../../operator/model/data-record.ts";
import type { OpenRedis } from "../../../../operator/publish/config-writer.ts";
import { createKeptDataMaintenance } from "../../../../operator/runtime/kept-data-maintenance.ts";

/**
 * What is kept of shop/store while a Project of this controller has the name; the names of the data
 * that replicas are to measure.
 */
async function measured(options: { readonly controller?: string; readonly isWatched?: boolean } = {}) {
  const { controller, isWatched = true } = options;
  const since = { retained: true, retainedAt: "2026-11-20T00:00:00.000Z" } as const;
  const entries = [{ what: "resource", name: "books", uid: "u", namespaceUid: "n", ...since }] as const;
  const record: DataRecord = { policy: "Retain", projectUid: "p", entries };
  const ordered: string[] = [];
  const config = {
    publisher: { dataRecords: () => new Map([["shop/store", record]]), newest: () => 1 },
    acknowledgements: { rolloutOf: () => "programmed" },
    purges: {
      order: async (_: string, { name }: { readonly name: string }) => void ordered.push(name),
      forget: async () => undefined,
      sizes: async () => new Map(),
    },
  };
  const maintenance = createKeptDataMaintenance({
    context: {
      caches: { isCurrent: () => isWatched, index: { projectOf: () => ({ status: { controller } }) } } as never,
      settings: { namespace: "blue" } as never,
      logger: {} as never,
      clock: systemClock,
    },
    api: {} as never,
    enqueue: () => undefined,
    redis: () => config as unknown as OpenRedis,
  });
  await maintenance.look(undefined);
  return ordered;
}

it("kept data of a name are measured where this operator looks after the name", async () => {
  expect(await measured({ controller: "blue/jsonplane-operator" })).toEqual(["books"]);
});

it("kept data of a name are left alone where another installation looks after the Project: their size would never be recorded", async () => {
  expect(await measured({ controller: "green/jsonplane-operator" })).toEqual([]);
});

it("kept data of a namespace that isn't watched are left alone", async () => {
  expect(await measured({ isWatched: false })).toEqual([]);
});
