// The finalizer of an object whose deletionPolicy its user changes again and again: what this operator took away itself is no repair.

import { beforeEach, expect, it } from "vitest";
import { type CarryOnDeps, carryOn } from "../../../../operator/finalize/carry-on.ts";
import { finalizer } from "../../../../operator/finalizer.ts";
import type { KubeApi, KubeObject } from "../../../../operator/kube/api.ts";
import type { OpenConfig } from "../../../../operator/publish/config-writer.ts";
import { createRepairs, type Repairs } from "../../../../operator/repairs.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const api = { apply: async (_: unknown, body: unknown) => body as KubeObject } as unknown as KubeApi;
let repairs: Repairs;
beforeEach(() => {
  repairs = createRepairs(() => 0);
});

const deps: Omit<CarryOnDeps, "repairs"> = {
  api,
  mode: "cluster",
  className: undefined,
  sweep: { sweepSubject: async () => [] } as unknown as CarryOnDeps["sweep"],
  secrets: { installation: () => undefined, rivalNamed: async () => undefined },
  note: () => undefined,
  onPurged: () => undefined,
  onSwept: () => undefined,
};

async function unsetMs(deletionPolicy: "Delete" | "Retain", finalizers: readonly string[]): Promise<number> {
  const shop = stored("Project", "shop", { metadata: { finalizers }, spec: { deletionPolicy } });
  const objects = projectObjects("shop", shop);
  const deletions = { objects, isNamespaceGone: false, deleted: [], record: undefined, rival: undefined };
  return (await carryOn(deletions, {} as OpenConfig, { ...deps, repairs })).unsetMs;
}

it("a deletionPolicy that is changed back and forth has its finalizer set at once each time", async () => {
  for (let time = 0; time < 10; time += 1) {
    expect(await unsetMs("Delete", [])).toBe(0);
    await unsetMs("Retain", [finalizer]);
  }
});

it("a finalizer that something else takes away each time waits", async () => {
  for (let time = 0; time < 4; time += 1) expect(await unsetMs("Delete", [])).toBe(0);
  expect(await unsetMs("Delete", [])).toBeGreaterThan(0);
});
