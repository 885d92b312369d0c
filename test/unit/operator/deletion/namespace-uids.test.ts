import { describe, expect, it } from "vitest";
import { createNamespaceUids } from "../../../../operator/deletion/namespace-uids.ts";
import type { KubeObject } from "../../../../operator/kube/api.ts";
import type { DataEntry } from "../../../../operator/model/data-inventory.ts";
import type { PublishedProject } from "../../../../operator/publish/writer-session.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const project = stored("Project", "shop");
const { uid } = project.metadata;
const deleting = { ...project, metadata: { ...project.metadata, deletionTimestamp: "2026-11-20T00:00:00Z" } };

/** The namespace is n-2 by now, and the watch still has n-1. */
async function answered(objects: readonly (typeof project)[], published: PublishedProject, live?: unknown) {
  let asked = 0;
  const namespaces = createNamespaceUids({
    api: {
      async get() {
        asked += 1;
        if (live instanceof Error) throw live;
        return { metadata: { uid: "n-2" } } as unknown as KubeObject;
      },
    },
    watched: () => "n-1",
  });
  return { namespace: await namespaces.of(projectObjects("shop", ...objects), published), asked };
}

function published(projectUid: string, ...entries: readonly Partial<DataEntry>[]): PublishedProject {
  const data = {
    policy: "Retain",
    projectUid,
    entries: entries.map((entry) => ({ what: "resource", name: "books", uid: "b", namespaceUid: "n-2", ...entry })),
  };
  return { revision: 1, data } as unknown as PublishedProject;
}

describe("the namespace of a Project", () => {
  it("is the one that it was published from, whatever the watch says", async () => {
    expect(await answered([project], published(uid, {}))).toEqual({ namespace: "n-2", asked: 0 });
  });

  it.each<readonly [string, PublishedProject]>([
    ["nothing is published", { revision: 0 } as PublishedProject],
    ["another Project of its name was published", published("former", { namespaceUid: "n-1" })],
    ["it was published without data", published(uid)],
    ["data of an earlier namespace are to be purged", published(uid, { namespaceUid: "n-1", purgeFromRevision: 3 })],
    ["the inventory names two", published(uid, {}, { name: "films", namespaceUid: "n-1" })],
  ])("is asked for where %s", async (_, before) => {
    expect(await answered([project], before)).toEqual({ namespace: "n-2", asked: 1 });
  });

  it("is asked for while the Project is being deleted: it may have gone", async () => {
    expect(await answered([deleting], published(uid, {}))).toEqual({ namespace: "n-2", asked: 1 });
  });

  it("stays unknown while the API server doesn't answer", async () => {
    await expect(answered([project], published("former"), new Error("cut"))).rejects.toThrow("cut");
  });
});

it("the namespace of what a Project left is the one that is watched", async () => {
  expect(await answered([], published(uid, {}))).toEqual({ namespace: "n-1", asked: 0 });
});
