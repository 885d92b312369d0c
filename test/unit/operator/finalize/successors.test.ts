import { describe, expect, it } from "vitest";
import { type DataInput, evaluateData } from "../../../../operator/finalize/data-plan.ts";
import type { DataEntry, DataRecord } from "../../../../operator/model/data-record.ts";
import type { CustomResource, DeletionPolicy } from "../../../../operator/model/objects.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const namespaceUid = "namespace 1";
const [first, anew] = ["ApiResource books", "ApiResource books, anew"];

const shop = (uid: string, deletionPolicy: DeletionPolicy) =>
  stored("Project", "shop", { metadata: { uid }, spec: { deletionPolicy } });
const books = (uid: string) =>
  stored("ApiResource", "books", { metadata: { uid }, spec: { deletionPolicy: "Delete" } });

function record(policy: DeletionPolicy): DataRecord {
  const entry: DataEntry = {
    what: "resource",
    name: "books",
    uid: first,
    namespaceUid,
    beganEmpty: true,
    policy: "Delete",
  };
  return { policy, projectUid: "Project shop", entries: [entry] };
}

function evaluated(objects: readonly CustomResource[], previous: DataRecord, more: Partial<DataInput> = {}) {
  const common = { namespaceUid, adopt: false, ordered: new Set<string>() };
  return evaluateData({ ...common, objects: projectObjects("shop", ...objects), publishedRecord: previous, ...more });
}

describe("data of objects that went with their definition", () => {
  const isReplaced = () => true;

  it("are the next object's of that name, whatever the policies say", () => {
    const objects = [shop("Project shop, anew", "Delete"), books(anew)];
    const found = evaluated(objects, record("Delete"), { isReplaced });
    expect(found.openPurges).toEqual(new Set());
    expect(found.record).toMatchObject({ projectUid: "Project shop, anew", entries: [{ uid: anew }] });
    expect(found.record?.entries[0]?.beganEmpty).toBeUndefined();
    expect(evaluated(objects, record("Delete")).openPurges).toEqual(new Set(["resource:books"]));
  });

  it("stay where there is none", () => {
    const found = evaluated([shop("Project shop", "Delete")], record("Delete"), { isReplaced });
    expect(found.openPurges).toEqual(new Set());
    expect(found.record?.entries).toMatchObject([{ uid: first, retained: true }]);
  });

  it("are deleted as the policy says where somebody deleted the object", () => {
    const found = evaluated([shop("Project shop", "Retain")], record("Retain"), {
      isReplaced,
      deleted: [books(first)],
    });
    expect(found.openPurges).toEqual(new Set(["resource:books"]));
  });
});
