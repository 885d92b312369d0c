// What the data inventory says of data that were copied from another Project: see data-copies.ts.

import { expect, it } from "vitest";
import type { CompiledProject } from "../../../../core/config/types.ts";
import type { DataInventory } from "../../../../operator/model/data-inventory.ts";
import type { DeletionPolicy } from "../../../../operator/model/objects.ts";
import { evaluateData, planData } from "../../../../operator/stored-data/data-plan.ts";
import { project, withConfig } from "../../../support/http/projects.ts";
import { projectObjects, stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const namespaceUid = "namespace 1";
const copied = { copied: 9, refused: 0, examples: [], endedAt: 1 };

/** The inventory after a pass over the Project in this state. */
function after(state: "there" | "going" | "anew", deletionPolicy: DeletionPolicy): DataInventory | undefined {
  const uid = state === "anew" ? "another" : "Project shop";
  const metadata = { uid, ...(state === "going" && terminating) };
  const objects = projectObjects(
    "shop",
    stored("Project", "shop", { metadata, spec: { deletionPolicy } }),
    stored("ApiResource", "books"),
  );
  const entry = { what: "resource", name: "books", uid: "ApiResource books", namespaceUid } as const;
  const before: DataInventory = { policy: deletionPolicy, projectUid: "Project shop", entries: [entry], copied };
  const data = evaluateData({ objects, namespaceUid, adopt: false, ordered: new Set(), publishedInventory: before });
  const isServed = state !== "going" && data.openPurges.size === 0;
  const books = [["books", { name: "books", uid: "ApiResource books" }]] as never;
  const config: CompiledProject = { ...project("shop", withConfig({ uid })), resources: new Map(books) };
  return planData(data, { objects, namespaceUid, ...(isServed && { config }) });
}

it.each([
  ["stays while the Project is served", "there", "Delete", copied],
  ["stays with kept data, for the next Project of the name", "anew", "Retain", copied],
  ["goes with data that are deleted with their Project", "going", "Delete", undefined],
  ["goes with data that are deleted because their Project was replaced", "anew", "Delete", undefined],
] as const)("that they were copied %s", (_name, state, policy, expected) => {
  expect(after(state, policy)?.copied).toEqual(expected);
});
