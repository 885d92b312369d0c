// Whose sessions are to be purged, decided in addition to what becomes of the data, and recorded
// until it is done.

import { describe, expect, it } from "vitest";
import type { DataInventory, DeletedProject } from "../../../../operator/model/data-inventory.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { withPurgeRevision } from "../../../../operator/publish/data-inventories.ts";
import { purgeId } from "../../../../operator/stored-data/advance-purges.ts";
import { type DataInput, evaluateData, planData } from "../../../../operator/stored-data/data-plan.ts";
import { project, withConfig } from "../../../support/http/projects.ts";
import { projectObjects, stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const namespaceUid = "namespace 1";
const published = project("shop", withConfig({ uid: "Project shop" }));
const there = stored("Project", "shop");
const going = stored("Project", "shop", { metadata: terminating });
const anew = stored("Project", "shop", { metadata: { uid: "Project shop, anew" } });
const ended: DeletedProject = { uid: "Project shop", purgeFromRevision: 7 };

function evaluated(object: CustomResource | undefined, more: Partial<DataInput> = {}) {
  const objects = projectObjects("shop", ...(object === undefined ? [] : [object]));
  return evaluateData({ objects, namespaceUid, adopt: false, ordered: new Set<string>(), ...more });
}

function inventory(more: Partial<DataInventory> = {}): DataInventory {
  return { policy: "Retain", projectUid: "Project shop", entries: [], ...more };
}

describe("the sessions of a Project that is published", () => {
  it.each([
    ["is going", going],
    ["has gone", undefined],
    ["has gone, and another one has its name", anew],
  ])("are to be purged when it %s, whatever its policy and its data", (_, object) => {
    const { inventory: found } = evaluated(object, { publishedInventory: inventory(), publishedConfig: published });
    expect(found?.deletedProjects).toEqual([{ uid: "Project shop", purgeFromRevision: 0 }]);
  });

  it("stay while it is there", () => {
    const { inventory: found } = evaluated(there, { publishedInventory: inventory(), publishedConfig: published });
    expect(found).not.toHaveProperty("deletedProjects");
  });

  it("are to be purged also where data of an earlier namespace are in the way", () => {
    const entry = { what: "resource", name: "books", uid: "b", namespaceUid: "namespace 0" } as const;
    const previous = inventory({ entries: [entry] });
    const { inventory: found, foreignData } = evaluated(anew, {
      publishedInventory: previous,
      publishedConfig: published,
    });
    expect([foreignData, found?.deletedProjects]).toEqual([true, [{ uid: "Project shop", purgeFromRevision: 0 }]]);
    const adopted = evaluated(anew, { publishedInventory: previous, publishedConfig: published, adopt: true });
    expect([adopted.adopted, adopted.inventory?.deletedProjects]).toEqual([true, found?.deletedProjects]);
  });
});

describe("the sessions of a Project that has ended", () => {
  it("are remembered without any data, beside what is served, until they are purged", () => {
    const evaluation = evaluated(undefined, { publishedInventory: inventory({ deletedProjects: [ended] }) });
    expect(planData(evaluation, { objects: projectObjects("shop"), namespaceUid })?.deletedProjects).toEqual([ended]);
    const next = evaluated(anew, { publishedInventory: inventory({ deletedProjects: [ended] }) });
    const config = project("shop", withConfig({ uid: "Project shop, anew" }));
    const plan = planData(next, { objects: projectObjects("shop", anew), namespaceUid, config });
    expect(plan).toMatchObject({ projectUid: "Project shop, anew", deletedProjects: [ended] });
    const withdrawn = evaluated(undefined, { publishedInventory: inventory() });
    expect(planData(withdrawn, { objects: projectObjects("shop"), namespaceUid })).toBeUndefined();
  });

  it("are purged once, and again after another end", () => {
    expect(
      evaluated(undefined, { publishedInventory: inventory({ deletedProjects: [ended] }), publishedConfig: published })
        .inventory?.deletedProjects,
    ).toEqual([ended]);
    const again = project("shop", withConfig({ uid: "Project shop, anew" }));
    expect(
      evaluated(undefined, { publishedInventory: inventory({ deletedProjects: [ended] }), publishedConfig: again })
        .inventory?.deletedProjects,
    ).toEqual([ended, { uid: "Project shop, anew", purgeFromRevision: 0 }]);
  });

  it("are given back to the same Project, unless their purge was ordered", () => {
    const previous = inventory({ deletedProjects: [ended] });
    expect(evaluated(there, { publishedInventory: previous }).inventory).not.toHaveProperty("deletedProjects");
    expect(
      evaluated(there, { publishedInventory: previous, ordered: new Set([purgeId(ended)]) }).inventory?.deletedProjects,
    ).toEqual([ended]);
  });

  it("are remembered of a hundred Projects", () => {
    const many = Array.from({ length: 100 }, (_, n) => ({ uid: `u${n}`, purgeFromRevision: n + 1 }));
    const { inventory: found } = evaluated(anew, {
      publishedInventory: inventory({ deletedProjects: many }),
      publishedConfig: published,
    });
    expect(found?.deletedProjects).toHaveLength(100);
    expect(found?.deletedProjects?.at(-1)).toEqual({ uid: "Project shop", purgeFromRevision: 0 });
  });

  it("have the revision that serves them no more", () => {
    expect(
      withPurgeRevision(inventory({ deletedProjects: [ended, { uid: "u", purgeFromRevision: 0 }] }), 12)
        ?.deletedProjects,
    ).toEqual([ended, { uid: "u", purgeFromRevision: 12 }]);
  });
});
