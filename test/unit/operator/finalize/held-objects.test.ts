import { expect, it } from "vitest";
import { createHeldObjects, type HeldObjectsDeps } from "../../../../operator/finalize/held-objects.ts";

it("an object whose deletion nobody could decide on counts as there, and so do its Secrets", () => {
  const caches = {
    index: {},
    definitionOf: () => "one",
    isDeletionPending: (_kind: string, _namespace: string, name: string) => name === "waits",
  };
  const held = createHeldObjects({ caches } as unknown as HeldObjectsDeps);
  expect(["waits", "gone"].map((name) => held.countsAsExisting("ApiKey", "a", name))).toEqual([true, false]);
});
