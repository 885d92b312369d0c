import { expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import type { DataRecord } from "../../../../operator/model/data-record.ts";
import type { OpenRedis } from "../../../../operator/publish/config-writer.ts";
import { createKeptDataMaintenance } from "../../../../operator/runtime/kept-data-maintenance.ts";

/** What is kept of shop/store while a Project of this class has the name; the names of the data that replicas are to measure. */
async function measured(options: { readonly className?: string; readonly isWatched?: boolean } = {}) {
  const { className, isWatched = true } = options;
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
      caches: { isCurrent: () => isWatched, index: { projectOf: () => ({ spec: { className } }) } } as never,
      settings: { className: "blue" } as never,
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
  expect(await measured({ className: "blue" })).toEqual(["books"]);
});

it("kept data of a name that a Project of another class took are left alone: their size would never be put on record", async () => {
  expect(await measured({ className: "green" })).toEqual([]);
  expect(await measured()).toEqual([]);
});

it("kept data of a namespace that isn't watched are left alone", async () => {
  expect(await measured({ className: "blue", isWatched: false })).toEqual([]);
});
