// When what is published, and has no object in memory, may be taken for gone.

import { describe, expect, it } from "vitest";
import type { Kind } from "../../../../core/manifests/object.ts";
import { createAbsences, publishedChildren } from "../../../../operator/deletion/absences.ts";
import { createDefinitions } from "../../../../operator/deletion/definitions.ts";
import {
  ApiFailure,
  type KubeObject,
  type ListPage,
  type ListRequest,
  type ResourceType,
} from "../../../../operator/kube/api.ts";
import type { DataEntry } from "../../../../operator/model/data-inventory.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import type { ProjectObjects } from "../../../../operator/model/project-objects.ts";
import type { PublishedProject } from "../../../../operator/publish/writer-session.ts";
import { project, withKey, withResource } from "../../../support/http/projects.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const config = project("shop", withKey("ci"), withResource("books"));
const { uid } = config.project;
const [keyUid = ""] = [...config.keys.values()].map((key) => key.uid);
const ref = { namespace: "default", name: "shop" };
const nothing: ProjectObjects = { ref, resources: [], rootKeys: [], users: [], keys: [] };
const own = stored("Project", "shop", { metadata: { uid } });
const books = stored("ApiResource", "books", { metadata: { uid: [...config.resources.values()][0]?.uid ?? "" } });
const key = stored("ApiKey", "ci", { metadata: { uid: keyUid } });
const served: PublishedProject = { config, revision: 1 };
const entry: DataEntry = { what: "resource", name: "books", uid: "books", namespaceUid: "n" };
const { signal } = new AbortController();

interface World {
  /** What the API server has. */
  readonly present?: readonly CustomResource[];
  /** Kinds whose definition doesn't stand. */
  readonly missing?: readonly Kind[];
  /** The API server knows no kind of ours. */
  readonly isUnknown?: boolean;
  /** The API server refuses to list. */
  readonly isRefused?: boolean;
}

function looking({ present = [], missing = [], isUnknown = false, isRefused = false }: World = {}) {
  const asked: string[] = [];
  const found: number[] = [];
  const absences = createAbsences({
    api: {
      async get({ kind }, { name }) {
        asked.push(`get ${kind}`);
        const object = present.find((each) => each.kind === kind && each.metadata.name === name);
        return object as unknown as KubeObject | undefined;
      },
      async list({ kind }: ResourceType, { namespace, metadataOnly }: ListRequest): Promise<ListPage> {
        if (isRefused) throw new ApiFailure(403, { message: "no" });
        if (isUnknown) throw new ApiFailure(404, { message: "the server could not find the requested resource" });
        asked.push(`list ${kind} ${namespace} ${metadataOnly}`);
        const items = present.filter((each) => each.kind === kind) as unknown as readonly KubeObject[];
        return { items, resourceVersion: "9" };
      },
    },
    definitions: { stands: async (kind) => !missing.includes(kind) },
    onFound: (_, objects) => void found.push(objects),
  });
  const confirm = (objects: ProjectObjects, deleted: readonly CustomResource[] = [], published = served) =>
    absences.confirm({ objects, published, deleted }, signal);
  return { confirm, asked, found };
}

describe("what is published and has no object", () => {
  it("asks for nothing while everything is there", async () => {
    const { confirm, asked } = looking();
    expect(await confirm(projectObjects("shop", own, books, key))).toEqual({ isConfirmed: true, gone: [] });
    expect(asked).toEqual([]);
  });

  it("is gone where the watch reported its deletion: nobody else is asked", async () => {
    const { confirm, asked } = looking({ present: [key] });
    expect(await confirm(projectObjects("shop", own, books), [key])).toEqual({ isConfirmed: true, gone: [key] });
    expect(asked).toEqual([]);
  });

  it("is gone where the API server doesn't list it either", async () => {
    const { confirm, asked } = looking();
    expect(await confirm(projectObjects("shop", own, books))).toEqual({ isConfirmed: true, gone: [] });
    expect(asked).toEqual(["list ApiKey default true"]);
  });

  it("stays while the API server has it: what the watch brought is behind", async () => {
    const { confirm, found } = looking({ present: [key] });
    expect(await confirm(projectObjects("shop", own, books))).toEqual({ isConfirmed: false, gone: [] });
    expect(found).toEqual([1]);
  });

  it("stays while the API server knows no such kind: nobody can say that it is gone", async () => {
    const { confirm } = looking({ isUnknown: true });
    expect((await confirm(projectObjects("shop", own, books))).isConfirmed).toBe(false);
  });

  it("is not missing where another installation looks after it: the Project that has gone is withdrawn", async () => {
    const { confirm } = looking({ present: [key, books] });
    const othersUids = new Set([key.metadata.uid, books.metadata.uid]);
    expect((await confirm({ ...nothing, othersUids })).isConfirmed).toBe(true);
  });

  it("stays where the API server can't be asked, and what is known to be gone is said all the same", async () => {
    const { confirm } = looking({ isRefused: true });
    const user = stored("ProjectUser", "ann");
    const { isConfirmed, gone, failure } = await confirm(projectObjects("shop", own, books), [user]);
    expect([isConfirmed, gone]).toEqual([false, [user]]);
    expect(failure?.error).toBeInstanceOf(ApiFailure);
  });

  it("a key whose deletion has begun is known to be gone, whoever delays its end", async () => {
    const going = stored("ApiKey", "ci", {
      metadata: { ...key.metadata, deletionTimestamp: "2026-11-21T12:00:00Z" },
    });
    const { confirm } = looking({ missing: ["ApiResource"] });
    expect(await confirm(projectObjects("shop", own, going))).toEqual({ isConfirmed: false, gone: [going] });
  });

  it("is asked for by name where it is the Project", async () => {
    expect((await looking({ present: [own] }).confirm(nothing)).isConfirmed).toBe(false);
    const { confirm, asked } = looking();
    expect((await confirm(nothing)).isConfirmed).toBe(true);
    expect(asked).toContain("get Project");
  });
});

describe("while the definition of a kind is missing or being deleted", () => {
  it("nothing is taken for gone that the watch reported as deleted, or that is missing", async () => {
    const objects = projectObjects("shop", own, books);
    const { confirm, asked } = looking({ missing: ["ApiKey"] });
    expect(await confirm(objects, [key])).toEqual({ isConfirmed: false, gone: [] });
    expect(await confirm(objects)).toEqual({ isConfirmed: false, gone: [] });
    expect(asked).toEqual([]);
  });

  it("an object that is being deleted may go with it, and holds up its Project", async () => {
    const going = stored("ApiResource", "books", {
      metadata: { ...books.metadata, deletionTimestamp: "2026-11-21T12:00:00Z" },
    });
    const objects = projectObjects("shop", own, going, key);
    expect((await looking({ missing: ["ApiResource"] }).confirm(objects)).isConfirmed).toBe(false);
    expect((await looking().confirm(objects)).isConfirmed).toBe(true);
  });

  it("an object of another kind whose deletion was reported is gone all the same", async () => {
    const { confirm } = looking({ missing: ["ApiResource"] });
    expect(await confirm(projectObjects("shop", own), [key])).toEqual({ isConfirmed: false, gone: [key] });
  });
});

describe("a Project that was withdrawn", () => {
  const withdrawn = (policy: "Retain" | "Delete", of: DataEntry = entry): PublishedProject => ({
    data: { policy, projectUid: uid, entries: [of] },
    revision: 2,
  });

  it("is asked for as long as its absence would delete data, those that were kept too", async () => {
    for (const of of [entry, { ...entry, retained: true as const }]) {
      expect((await looking({ present: [own] }).confirm(nothing, [], withdrawn("Delete", of))).isConfirmed).toBe(false);
    }
  });

  it("is not asked for where its absence decides over nothing", async () => {
    const { confirm, asked } = looking({ present: [own] });
    const kept = withdrawn("Retain", { ...entry, retained: true });
    expect((await confirm(nothing, [], kept)).isConfirmed).toBe(true);
    expect(asked).toEqual([]);
  });
});

it("published children are those of the configuration and of data over which nobody has decided", () => {
  const entries: readonly DataEntry[] = [
    entry,
    { ...entry, uid: "kept", retained: true },
    { ...entry, uid: "purged", purgeFromRevision: 3 },
    { ...entry, what: "rootkey", uid: "flags" },
  ];
  const found = publishedChildren(config, { policy: "Retain", projectUid: "p", entries });
  expect(found.get("ApiResource")).toEqual(new Set([books.metadata.uid, "books"]));
  expect(found.get("RootKey")).toEqual(new Set(["flags"]));
  expect(found.get("ApiKey")).toEqual(new Set([keyUid]));
});

describe("the definition of a kind", () => {
  function asking(answers: (() => KubeObject | undefined)[], asks = true) {
    let now = 0;
    const waits: string[] = [];
    let asked = 0;
    const definitions = createDefinitions({
      api: {
        async get() {
          asked += 1;
          return (answers.shift() ?? (() => undefined))();
        },
      },
      asks,
      monotonic: () => now,
      onWait: (kind, why) => void waits.push(`${kind} ${why}`),
    });
    const pass = (milliseconds: number): void => {
      now += milliseconds;
    };
    return { definitions, waits, asked: () => asked, pass };
  }
  const standing = () => ({ kind: "d", metadata: { name: "d", uid: "u" } }) as unknown as KubeObject;
  const deleting = () =>
    ({
      kind: "d",
      metadata: { name: "d", uid: "u", deletionTimestamp: "2026-11-21T12:00:00Z" },
    }) as unknown as KubeObject;
  const refusal = () => {
    throw new ApiFailure(403, { message: "no" });
  };

  it("is asked for each time while it stands, and once in two seconds for all while it doesn't", async () => {
    const { definitions, waits, asked, pass } = asking([standing, standing, deleting, () => undefined, standing]);
    expect([await definitions.stands("ApiKey"), await definitions.stands("ApiKey")]).toEqual([true, true]);
    expect([await definitions.stands("ApiKey"), await definitions.stands("ApiKey")]).toEqual([false, false]);
    expect(asked()).toBe(3);
    pass(2_000);
    expect(await definitions.stands("ApiKey")).toBe(false);
    pass(2_000);
    expect(await definitions.stands("ApiKey")).toBe(true);
    expect(waits).toEqual(["ApiKey deleting", "ApiKey missing"]);
  });

  it("counts as not standing where it can't be read", async () => {
    const { definitions, waits } = asking([refusal]);
    expect(await definitions.stands("ApiKey")).toBe(false);
    expect(waits).toEqual(["ApiKey ApiFailure: no"]);
  });

  it("is not asked for where only some namespaces are watched", async () => {
    const { definitions, asked } = asking([], false);
    expect([await definitions.stands("ApiKey"), asked()]).toEqual([true, 0]);
  });
});
