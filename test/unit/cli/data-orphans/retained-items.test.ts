import { describe, expect, it } from "vitest";
import { type FoundNamespace, itemsOf } from "../../../../cli/data-orphans/read-retained.ts";
import {
  type Choice,
  chosenBy,
  isDeletable,
  nameFault,
  type RetainedItem,
} from "../../../../cli/data-orphans/retained-item.ts";
import type { KubeObject } from "../../../../operator/kube/api.ts";
import type { DataEntry } from "../../../../operator/model/data-inventory.ts";

const ref = { namespace: "shop", name: "store" };
const entry = (more: Partial<DataEntry> = {}): DataEntry => ({
  ...{ what: "resource", name: "books", uid: "u", namespaceUid: "n1" },
  ...more,
});
const retained = entry({ retained: true });
const ours = "jsonplane-system/jsonplane-operator";
const project = (status: object = { controller: ours }): KubeObject => ({
  metadata: { namespace: "shop", name: "store", uid: "p", resourceVersion: "1" },
  status,
});
const found = (project?: KubeObject, uid: string | undefined = "n1"): FoundNamespace => ({
  uid,
  projects: new Map(project === undefined ? [] : [["store", project]]),
});

function itemOf(one: DataEntry, namespace: FoundNamespace | undefined): RetainedItem | undefined {
  const record = { policy: "Retain", projectUid: "p", entries: [one] } as const;
  return itemsOf(ref, record, namespace, { controller: ours })[0];
}

describe("what the record and the cluster say together", () => {
  it.each([
    ["of an object that went", retained, found(project()), "ObjectDeleted Kept deletable"],
    ["of a Project that went, with its object", retained, found(), "ProjectDeleted Kept deletable"],
    ["of a Project that went, whose object is there", entry(), found(), "ProjectDeleted Guarded"],
    ["of an earlier namespace", entry(), found(project(), "n2"), "EarlierNamespace Kept deletable"],
    [
      "of a namespace that is gone",
      entry(),
      { uid: undefined, projects: new Map() },
      "EarlierNamespace Kept deletable",
    ],
    [
      "under a name of a Project of another installation",
      retained,
      found(project({ controller: "elsewhere/jsonplane-operator" })),
      "OtherController Kept",
    ],
    [
      "under a name of a Project that no installation has taken yet",
      retained,
      found(project({})),
      "ObjectDeleted Kept deletable",
    ],
    [
      "of a refused object",
      entry({ retainedAt: "2026-11-20T00:00:00.000Z" }),
      found(project()),
      "ObjectNotServed Guarded",
    ],
    [
      "that another object names by now, which is refused",
      entry({ retained: true, guarded: true }),
      found(project()),
      "ObjectNotServed Guarded",
    ],
    [
      "of an earlier namespace that an object of it named",
      entry({ guarded: true }),
      found(project(), "n2"),
      "EarlierNamespace Kept deletable",
    ],
    ["where nobody may look", retained, undefined, "NamespaceNotWatched Kept"],
    ["that are being deleted", entry({ purgeFromRevision: 3 }), found(project()), "ObjectNotServed Deleting"],
  ] as const)("data %s are told so", (_, one, namespace, expected) => {
    const item = itemOf(one, namespace) as RetainedItem;
    const described = [item.because, item.state, ...(isDeletable(item) ? ["deletable"] : [])];
    expect(described.join(" ")).toBe(expected);
  });

  it("what is served is not listed, nor what nobody may look at and no record says is kept", () => {
    expect(itemOf(entry(), found(project()))).toBeUndefined();
    expect(itemOf(entry(), undefined)).toBeUndefined();
  });
});

describe("a choice", () => {
  const item = itemOf(retained, found(project())) as RetainedItem;
  const by = (choice: Partial<Choice>) =>
    chosenBy(item, { namespace: undefined, project: undefined, names: [], ...choice });

  it("is by namespace, Project and names, whole Projects or single data, kinds as kubectl takes them", () => {
    expect([by({}), by({ namespace: "shop", project: "store" })]).toEqual([[""], [""]]);
    expect([by({ namespace: "bank" }), by({ project: "other" })]).toEqual([[], []]);
    const names = [
      "shop/store",
      "shop/store/apiresources/books",
      "shop/store/ApiResource/books",
      "shop/store/RootKey/books",
    ];
    expect(by({ names })).toEqual(names.slice(0, 3));
    expect(by({ names: ["shop/store/ApiResource/Books", "shop/storeroom"] })).toEqual([]);
  });

  it.each(["shop", "shop/store/ApiKey/web", "shop/store/ApiResource", "shop/store/ApiResource/a/b", "shop/*"])(
    "by %s is refused with what to write",
    (name) => {
      expect(nameFault([name])).toContain("write NAMESPACE/PROJECT");
      expect(nameFault(["shop/store", "shop/store/RootKey/flags"])).toBeUndefined();
    },
  );
});
