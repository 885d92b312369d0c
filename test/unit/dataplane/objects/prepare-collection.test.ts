// The preparer against a store whose steps a test answers: declarations that come while a build
// ends are not lost.

import { afterEach, describe, expect, it, vi } from "vitest";
import type { LiveResource } from "../../../../dataplane/config/directory.ts";
import {
  type CollectionPreparer,
  createCollectionPreparer,
  type PreparedStore,
} from "../../../../dataplane/objects/prepare-collection.ts";
import type { ObjectIndexes } from "../../../../dataplane/store/ports/indexes.ts";
import { eventually } from "../../../support/time/eventually.ts";

type Step = Awaited<ReturnType<ObjectIndexes["buildIndexes"]>>;

const collection = { project: { namespace: "n", name: "p" }, resource: "books" };
const everybodys = { indexes: [], access: { read: "Authenticated" }, scope: { read: "All" } };
const resource = (revision: number, config = everybodys) => ({ config, revision }) as unknown as LiveResource;

let preparer: CollectionPreparer | undefined;
afterEach(() => preparer?.close());

function setup() {
  const steps: PromiseWithResolvers<Step>[] = [];
  const store: PreparedStore = {
    declareIndexes: async (_collection, _fields, revision) => [
      { field: { name: `of ${revision}`, path: ["a"] }, state: "building" },
    ],
    buildIndexes() {
      const step = Promise.withResolvers<Step>();
      steps.push(step);
      return step.promise;
    },
    noteExpiring: async () => undefined,
  };
  preparer = createCollectionPreparer(store, () => undefined);
  const made = preparer;
  const asked = async (count: number) => {
    await eventually(() => expect(steps).toHaveLength(count));
    return steps[count - 1] as PromiseWithResolvers<Step>;
  };
  return { prepare: async (revision: number) => made.prepare(resource(revision), collection), made, asked, steps };
}

describe("a declaration that comes while the store says that all is built", () => {
  it("has the store asked again, and stays among what is being built until then", async () => {
    const { prepare, made, asked } = setup();
    await prepare(1);
    const last = await asked(1);
    const declared = prepare(2);
    last.resolve("done");
    await declared;
    const further = await asked(2);
    expect(made.building()).toMatchObject([{ project: "n/p", resource: "books", indexes: ["of 2"] }]);
    further.resolve("done");
    await eventually(() => expect(made.building()).toEqual([]));
  });

  it("in any of the moments around the answer", async () => {
    for (let delay = 0; delay < 8; delay += 1) {
      const { prepare, made, asked } = setup();
      await prepare(1);
      const last = await asked(1);
      last.resolve("done");
      for (let turn = 0; turn < delay; turn += 1) await undefined;
      await prepare(2);
      (await asked(2)).resolve("done");
      await eventually(() => expect(made.building()).toEqual([]));
      await made.close();
    }
  });
});

it("a build that ends without one asks no more", async () => {
  const { prepare, made, asked, steps } = setup();
  await prepare(1);
  (await asked(1)).resolve("more");
  await prepare(2);
  (await asked(2)).resolve("done");
  await eventually(() => expect(made.building()).toEqual([]));
  expect(steps).toHaveLength(2);
});

it("a build that goes on failing is reported once per reason, with its collection, and tried again ever more seldom", async () => {
  vi.useFakeTimers();
  try {
    const failures: unknown[] = [];
    let message = "away";
    let calls = 0;
    const store: PreparedStore = {
      declareIndexes: async () => [{ field: { name: "a", path: ["a"] }, state: "building" }],
      async buildIndexes() {
        calls += 1;
        if (message !== "") throw new Error(message);
        return "done";
      },
      noteExpiring: async () => undefined,
    };
    preparer = createCollectionPreparer(store, (of, error) => failures.push([of, (error as Error).message]));
    await preparer.prepare(resource(1), collection);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(failures).toEqual([[collection, "away"]]);
    // After 1, 2, 4 and 8 seconds, and then each ten.
    expect(calls).toBe(9);
    message = "broken";
    await vi.advanceTimersByTimeAsync(60_000);
    expect(failures).toEqual([
      [collection, "away"],
      [collection, "broken"],
    ]);
    message = "";
    await vi.advanceTimersByTimeAsync(10_000);
    expect(preparer.building()).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});
