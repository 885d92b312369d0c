// The sweep against a store whose collections a test makes up.

import { expect, it } from "vitest";
import type { LiveProject } from "../../../../dataplane/config/directory.ts";
import { type SweepDeps, sweepExpired } from "../../../../dataplane/expiry/sweep.ts";
import type { CollectionRef } from "../../../../dataplane/store/ports/refs.ts";
import { eventually } from "../../../support/time/eventually.ts";

const project = { namespace: "n", name: "p" };
const nine = Array.from({ length: 9 }, (_, at) => `${at}`);

it("comes to every collection, however much has expired in those that it took before", async () => {
  const steps = new Map<string, number>();
  const due: CollectionRef[] = nine.map((resource) => ({ project, resource }));
  const store: SweepDeps["store"] = {
    removeExpired: async ({ resource }) => {
      steps.set(resource, (steps.get(resource) ?? 0) + 1);
      return { now: 1, next: 0, removed: 1 };
    },
    nextExpiry: async () => ({ now: 1, next: 0 }),
    noteExpiring: async () => undefined,
    takeExpiring: async () => due.splice(0).map((collection) => ({ collection, until: 2 })),
    takeAgain: async (taken) => void due.push(taken.collection),
  };
  const resources = new Map(nine.map((name) => [name, { config: { name, expiry: { afterSeconds: 60 } } }]));
  const value = { config: project, resources } as unknown as LiveProject;
  const directory: SweepDeps["directory"] = { project: () => ({ outcome: "found", value }), loaded: () => [] };
  const failures: unknown[] = [];
  const onFailed = (failure: unknown) => failures.push(failure);
  const sweep = sweepExpired({ store, directory, preparer: { prepare: () => undefined }, onFailed });
  try {
    await eventually(() => expect([...steps.keys()].sort()).toEqual(nine));
  } finally {
    await sweep.stop();
  }
  expect(failures).toEqual([]);
});
