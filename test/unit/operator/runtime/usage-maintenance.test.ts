import { expect, it } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import type { OpenRedis } from "../../../../operator/publish/config-writer.ts";
import { createUsageMaintenance, maxReportsPerRefresh } from "../../../../operator/runtime/usage-maintenance.ts";

interface World {
  /** What replicas have counted, by Project of the namespace shop. */
  counts: Record<string, number | string>;
  /** Bytes that Projects with a quota of bytes use, as replicas report them. */
  readonly bytes?: Readonly<Record<string, number>>;
  /** How many objects statuses report; a Project that isn't named doesn't exist. */
  readonly reported: Record<string, number | undefined>;
  /** Likewise, bytes. */
  readonly reportedBytes?: Readonly<Record<string, number>>;
  readonly controller?: string;
  readonly isWatched?: boolean;
  isAway?: boolean;
}

const limit = 1_073_741_824;
const usageIn = (used: number | undefined) =>
  used === undefined ? undefined : [{ quota: "bytes", used, limit, nearlyFull: false }];

function leader(world: World) {
  const enqueued: string[] = [];
  const warned: unknown[] = [];
  const redisClient: Pick<OpenRedis["redisClient"], "read"> = {
    async read() {
      if (world.isAway === true) throw new StoreUnavailable("Redis is away");
      return Object.entries(world.counts).flatMap(([name, count]) => [`shop/${name}`, String(count)]);
    },
  };
  const quotaUsages = () =>
    new Map(Object.entries(world.bytes ?? {}).map(([name, used]) => [`shop/${name}`, { bytes: { used, limit } }]));
  const projectOf = ({ name }: { readonly name: string }) =>
    name in world.reported
      ? {
          status: {
            controller: world.controller,
            storedObjectCount: world.reported[name],
            usage: usageIn(world.reportedBytes?.[name]),
          },
        }
      : undefined;
  const maintenance = createUsageMaintenance({
    context: {
      caches: { isCurrent: () => world.isWatched ?? true, index: { projectOf } } as never,
      settings: { namespace: "blue" } as never,
      logger: { warn: (...logged: unknown[]) => void warned.push(logged) } as never,
    },
    enqueue: (key, lane) => void enqueued.push(`${key} ${lane}`),
    redis: () => ({ redisClient, acknowledgements: { quotaUsages } }) as unknown as OpenRedis,
  });
  const look = async (): Promise<readonly string[]> => {
    await maintenance.refresh();
    return enqueued.splice(0);
  };
  /** As the reconcile of the enqueued keys does. */
  const report = (): void => {
    for (const name of Object.keys(world.reported)) {
      const key = `shop/${name}`;
      if (maintenance.due.has(key)) world.reported[name] = maintenance.due.get(key);
    }
  };
  return { maintenance, look, report, warned };
}

it("has a Project report what its status does not say, once", async () => {
  const world: World = { counts: { a: 5, b: 7, empty: 0 }, reported: { a: 5, b: 6, empty: undefined } };
  const { maintenance, look, report } = leader(world);
  expect(await look()).toEqual(["shop/b bulk"]);
  expect([...maintenance.due]).toEqual([["shop/b", 7]]);
  report();
  expect(await look()).toEqual([]);
});

it("enqueues nothing where a new leader finds what statuses report already, or almost", async () => {
  expect(await leader({ counts: { a: 1_009, b: 3 }, reported: { a: 1_000, b: 3 } }).look()).toEqual([]);
});

it("leaves Projects alone that are gone, of another installation, or of a namespace that it doesn't watch", async () => {
  expect(await leader({ counts: { gone: 1 }, reported: {} }).look()).toEqual([]);
  expect(await leader({ counts: { a: 1 }, reported: { a: 0 }, controller: "green/jsonplane-operator" }).look()).toEqual(
    [],
  );
  expect(await leader({ counts: { a: 1 }, reported: { a: 0 }, isWatched: false }).look()).toEqual([]);
});

it("has a bounded number of Projects report in each look, and every one of them in turn, though others change all the time", async () => {
  const names = Array.from({ length: 2.5 * maxReportsPerRefresh }, (_, at) => `p${String(at).padStart(4, "0")}`);
  const reported = Object.fromEntries(names.map((name) => [name, 0]));
  const world: World = { counts: {}, reported };
  const { look, report } = leader(world);
  const seen = new Set<string>();
  for (let count = 1; count <= 3; count += 1) {
    world.counts = Object.fromEntries(names.map((name) => [name, count * 10]));
    const enqueued = await look();
    expect(enqueued).toHaveLength(maxReportsPerRefresh);
    for (const key of enqueued) seen.add(key);
    report();
  }
  expect(seen.size).toBe(names.length);
});

it("counts Projects whose bytes have moved among those that report, once where their objects have moved too", async () => {
  const names = Array.from({ length: maxReportsPerRefresh }, (_, at) => `p${at}`);
  const all = (value: number) => Object.fromEntries(names.map((name) => [name, value]));
  const same = { z: 5 };
  const { look } = leader({
    counts: { ...all(2), ...same },
    reported: { ...all(1), ...same },
    bytes: { ...all(200), z: 60, gone: 5 },
    reportedBytes: { ...all(100), z: 50, gone: 4 },
  });
  expect(await look()).toHaveLength(maxReportsPerRefresh);
  const bytesOnly: World = { counts: same, reported: same, bytes: { z: 60 }, reportedBytes: { z: 50 } };
  expect(await leader(bytesOnly).look()).toEqual(["shop/z bulk"]);
  expect(await leader({ ...bytesOnly, reportedBytes: { z: 60 } }).look()).toEqual([]);
});

it("keeps the counts while Redis is away", async () => {
  const world: World = { counts: { a: 5 }, reported: { a: 5 } };
  const { maintenance, look } = leader(world);
  await look();
  world.isAway = true;
  await expect(look()).rejects.toThrow(StoreUnavailable);
  expect([...maintenance.storedObjects()]).toEqual([["shop/a", 5]]);
});

it("ignores a figure that can't be read, and logs it", async () => {
  const { maintenance, look, warned } = leader({ counts: { a: 5, b: "many" }, reported: { a: 5, b: 1 } });
  expect(await look()).toEqual([]);
  expect([...maintenance.storedObjects()]).toEqual([["shop/a", 5]]);
  expect(warned).toEqual([
    ["Counts of stored objects are not valid; ignoring them", { projects: 1, example: "shop/b" }],
  ]);
});
