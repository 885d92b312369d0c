// The preparer against a store whose steps a test answers: declarations that come while a build ends are not lost.

import { afterEach, describe, expect, it } from "vitest";
import type { LiveResource } from "../../../../dataplane/config/directory.ts";
import { type CollectionPreparer, createCollectionPreparer } from "../../../../dataplane/objects/prepare-collection.ts";
import type { ObjectIndexes } from "../../../../dataplane/store/ports/indexes.ts";
import { eventually } from "../../../support/time/eventually.ts";

type Step = Awaited<ReturnType<ObjectIndexes["buildIndexes"]>>;

const collection = { project: { namespace: "n", name: "p" }, resource: "books" };
const resource = (revision: number) => ({ config: { indexes: [] }, revision }) as unknown as LiveResource;

let preparer: CollectionPreparer | undefined;
afterEach(() => preparer?.close());

function scene() {
  const steps: PromiseWithResolvers<Step>[] = [];
  const store: ObjectIndexes = {
    declareIndexes: async (_collection, _fields, revision) => [
      { field: { name: `of ${revision}`, path: ["a"] }, state: "building" },
    ],
    buildIndexes() {
      const step = Promise.withResolvers<Step>();
      steps.push(step);
      return step.promise;
    },
    indexes: async () => [],
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
    const { prepare, made, asked } = scene();
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
    for (let turns = 0; turns < 8; turns += 1) {
      const { prepare, made, asked } = scene();
      await prepare(1);
      const last = await asked(1);
      last.resolve("done");
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      await prepare(2);
      (await asked(2)).resolve("done");
      await eventually(() => expect(made.building()).toEqual([]));
      await made.close();
    }
  });
});

it("a build that ends without one asks no more", async () => {
  const { prepare, made, asked, steps } = scene();
  await prepare(1);
  (await asked(1)).resolve("more");
  await prepare(2);
  (await asked(2)).resolve("done");
  await eventually(() => expect(made.building()).toEqual([]));
  expect(steps).toHaveLength(2);
});
