// A leader's maintenance, for unit tests: over a publisher that says what is published, with time
// that the test moves.

import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import type { DataInventory } from "../../../../operator/model/data-inventory.ts";
import type { Publisher } from "../../../../operator/publish/publisher.ts";
import { createMaintenance } from "../../../../operator/runtime/maintenance.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

export type Call = "verify" | "complete" | "published" | "ring" | "memory" | "stored" | "sweep";

/** Calls fail where the test says so. */
export function leader({ keys = [] as readonly string[], unknown = "", random = 0.5 } = {}) {
  const time = manualTime();
  const end = new AbortController();
  const calls: Call[] = [];
  const failing = new Set<Call>();
  const added: string[] = [];
  const logged: [level: string, message: string, fields: object | undefined][] = [];
  const world = {
    keys: [...keys],
    published: [...keys],
    inventories: new Map<string, DataInventory>(),
    onCall: (_: Call): void => undefined,
    /** Called whenever the publisher is asked for, which may begin. */
    onPublisher: (): void => undefined,
  };
  const call = async (name: Call): Promise<void> => {
    calls.push(name);
    world.onCall(name);
    if (failing.has(name)) throw new StoreUnavailable("Redis is away");
  };
  const publisher = {
    complete: () => call("complete"),
    async published() {
      await call("published");
      return world.published.map((key) => {
        const [namespace = "", name = ""] = key.split("/");
        return { namespace, name, hosts: [], revision: 1 };
      });
    },
    dataInventories: () => world.inventories,
  } as Pick<Publisher, "complete" | "published" | "dataInventories"> as Publisher;
  const log = (level: string) => (message: string, fields?: object) => void logged.push([level, message, fields]);
  const maintenance = createMaintenance({
    queue: {
      add: (key: string, lane: string) => void added.push(`${key} ${lane}`),
      retryNow: () => void added.push("retryNow"),
    } as never,
    timers: time.timers,
    random: () => random,
    logger: { info: log("info"), warn: log("warn") } as never,
    signal: end.signal,
    keys: () => world.keys,
    isCurrent: (namespace) => namespace !== unknown,
    async publisher() {
      world.onPublisher();
      return publisher;
    },
    verify: () => call("verify"),
    rotateKeyRing: () => call("ring"),
    lookAtRedis: () => call("memory"),
    renewRedisCertificate: async () => undefined,
    refreshUsage: () => call("stored"),
    refreshOrders: async () => undefined,
    sweepOrphans: () => call("sweep"),
  });
  const count = (name: Call): number => calls.filter((each) => each === name).length;
  const taken = (): readonly string[] => added.splice(0);
  return { time, end, maintenance, world, calls, count, failing, taken, logged };
}
