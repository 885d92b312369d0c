// Stores on one Redis, as several replicas have them: for the store's conformance suite.

import type { Clock } from "../../../core/clock.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { StoreUnderTest } from "../../store/contract/fixture.ts";
import { offBy } from "../time/manual-clock.ts";
import { openRedisStore } from "./open-store.ts";

/** A store, and as many others as are opened, all closed together. */
export async function redisReplicas(url: string, clock: Clock): Promise<StoreUnderTest> {
  const opened: Store[] = [];
  const openWith = async (its: Clock) => {
    const store = await openRedisStore({ url, clock: its });
    opened.push(store);
    return store;
  };
  const open = () => openWith(clock);
  const others = new Map<number, Promise<Store>>();
  return {
    store: await open(),
    open,
    offBy(milliseconds) {
      const other = others.get(milliseconds) ?? openWith(offBy(clock, milliseconds));
      others.set(milliseconds, other);
      return other;
    },
    clock,
    async close() {
      await Promise.all(opened.map((store) => store.close()));
    },
  };
}
