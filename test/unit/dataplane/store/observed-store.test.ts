// Whatever the port of the store has, or gets: each call is reported once, and refused after close.

import { beforeAll, describe, expect, it } from "vitest";
import { OutcomeUnknown, StoreUnavailable, WriteConflict } from "../../../../core/errors/store-errors.ts";
import { createEmbeddedStore } from "../../../../dataplane/store/embedded/embedded-store.ts";
import { observedStore } from "../../../../dataplane/store/observed-store.ts";
import type { Store, StoreObservation } from "../../../../dataplane/store/port.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

type Method = (...args: readonly unknown[]) => unknown;
type Methods = Record<string, Method>;

/** They send nothing, or are the end itself. */
const local: readonly string[] = ["health", "close", "onChanges", "sessionPrimary"];
/** They answer in batches. */
const iterations: readonly string[] = ["scan", "readObjects"];

describe("a store that is observed", () => {
  let names: readonly string[];
  beforeAll(async () => {
    const store = await createEmbeddedStore({ directory: ":memory:", clock: manualClock() });
    names = Object.keys(store);
    await store.close();
    expect(names).toContain("create");
  });

  /** A store whose methods are inherited and need their `this`. */
  function observed(answer: Method, observations: StoreObservation[] = []): Methods {
    class Inherited {
      readonly answer = answer;
    }
    for (const name of names) {
      const method = iterations.includes(name)
        ? async function* (this: Inherited, ...args: readonly unknown[]) {
            yield await this.answer(name, ...args);
          }
        : function (this: Inherited, ...args: readonly unknown[]) {
            return this.answer(name, ...args);
          };
      Object.defineProperty(Inherited.prototype, name, { value: method });
    }
    const store = observedStore(new Inherited() as unknown as Store, (each) => observations.push(each));
    return store as unknown as Methods;
  }

  /** What a call comes to, all batches of it. */
  async function resultOf(store: Methods, name: string): Promise<unknown> {
    const result = store[name]?.("first", "second");
    if (!iterations.includes(name)) return result;
    const batches: unknown[] = [];
    for await (const batch of result as AsyncIterable<unknown>) batches.push(batch);
    return batches[0];
  }

  it("hands every call on with its arguments and reports it", async () => {
    for (const name of names.filter((each) => !local.includes(each))) {
      const observations: StoreObservation[] = [];
      const store = observed(async (...args) => args, observations);
      expect(await resultOf(store, name)).toEqual([name, "first", "second"]);
      expect(
        observations.map(({ outcome }) => outcome),
        name,
      ).toContain("ok");
      expect(observations, name).toHaveLength(iterations.includes(name) ? 2 : 1);
    }
  });

  it("reports how every call failed", async () => {
    const failures = [
      ["unavailable", new StoreUnavailable("away")],
      ["unknown", new OutcomeUnknown("lost")],
      ["error", new Error("a defect")],
      // Redis answered: alerts of outages must not count it.
      ["ok", new WriteConflict("others won")],
    ] as const;
    for (const name of names.filter((each) => !local.includes(each))) {
      for (const [outcome, failure] of failures) {
        const observations: StoreObservation[] = [];
        const store = observed(() => Promise.reject(failure), observations);
        await expect(resultOf(store, name), name).rejects.toBe(failure);
        expect(observations.map((each) => each.outcome)).toEqual([outcome]);
      }
    }
  });

  it("refuses every call after close, and sends nothing", async () => {
    for (const name of names.filter((each) => !local.includes(each))) {
      const sent: unknown[] = [];
      const store = observed(async (called) => sent.push(called));
      await store.close?.();
      await expect(resultOf(store, name), name).rejects.toThrow(StoreUnavailable);
      expect(sent).toEqual(["close"]);
    }
  });

  it("closes once, after the calls under way, and is not healthy from the beginning of that", async () => {
    const sent: unknown[] = [];
    let end: () => void = () => undefined;
    const store = observed((name) => {
      sent.push(name);
      return name === "create" ? new Promise<void>((resolve) => (end = resolve)) : Promise.resolve();
    });
    const created = store.create?.();
    const closed = [store.close?.(), store.close?.()];
    expect(store.health?.()).toEqual({ reachable: false });
    expect(sent).toEqual(["create"]);
    end();
    await Promise.all([created, ...closed]);
    expect(sent).toEqual(["create", "close"]);
  });
});
