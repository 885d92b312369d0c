import { expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import type { DataInventory } from "../../../../operator/model/data-inventory.ts";
import type { ProjectObjects } from "../../../../operator/model/project-objects.ts";
import { refuse } from "../../../../operator/model/verdict.ts";
import { evaluateData } from "../../../../operator/stored-data/data-plan.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const publishedInventory: DataInventory = {
  policy: "Retain",
  projectUid: "former",
  entries: [{ what: "resource", name: "books", uid: "former books", namespaceUid: "former namespace" }],
};
const asks = { metadata: { annotations: { "jsonplane.io/adopt-data": "true" } } };

function evaluated(spec: JsonObject, more: Partial<ProjectObjects> = {}) {
  const objects = { ...projectObjects("shop", stored("Project", "shop", { ...asks, spec })), mayAdopt: true as const };
  return evaluateData({
    ...{ publishedInventory, namespaceUid: "namespace", adopt: false, ordered: new Set<string>() },
    objects: { ...objects, ...more },
  });
}

it("data of an earlier namespace are taken over by a Project that asks for them and may be served", () => {
  expect(evaluated({})).toMatchObject({ foreignData: false, adopted: true });
});

it("they stay the former's while it is suspended or refused: what is allowed then gives nothing later", () => {
  const { metadata } = stored("Project", "shop");
  const notAllowed = new Map([[metadata.uid, refuse("NotAllowed", "The platform refuses it").refusal]]);
  for (const each of [evaluated({ suspend: true }), evaluated({}, { notAllowed })]) {
    expect(each).toMatchObject({ foreignData: true, adopted: false });
  }
});
