// When a Project that no object explains, and children that are missing together, may be taken for gone.

import { describe, expect, it } from "vitest";
import { createConfirmedDeletions } from "../../../../operator/finalize/confirmed-deletions.ts";
import {
  ApiFailure,
  type KubeObject,
  type ListPage,
  type ListRequest,
  type ResourceType,
} from "../../../../operator/kube/api.ts";
import type { DataEntry } from "../../../../operator/model/data-record.ts";
import type { ProjectObjects } from "../../../../operator/model/project-objects.ts";
import type { PublishedProject } from "../../../../operator/model/published-project.ts";
import { project, withKey, withResource } from "../../../support/http/projects.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const parts = project("shop");
const { uid } = parts.project;
const ref = { namespace: "default", name: "shop" };
const unseen: ProjectObjects = { ref, resources: [], rootKeys: [], users: [], keys: [] };
const served: PublishedProject = { parts, revision: 1 };
const entry: DataEntry = { what: "resource", name: "books", uid: "books", namespaceUid: "n" };
const withdrawn = (policy: "Retain" | "Delete", of: DataEntry = entry): PublishedProject => ({
  data: { policy, projectUid: uid, entries: [of] },
  revision: 2,
});

/** The API server has the Project, or not, and these children; `asked` counts what was asked for of Projects. */
function server(found: boolean, children: readonly KubeObject[] = []) {
  let now = 0;
  const answers = {
    asked: 0,
    listed: [] as string[],
    found: [] as number[],
    children,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    confirmedDeletions: createConfirmedDeletions({
      api: { get, list },
      monotonic: () => now,
      onFound: (_, count) => void answers.found.push(count),
    }),
  };
  async function get(): Promise<KubeObject | undefined> {
    answers.asked += 1;
    return found ? (stored("Project", "shop") as unknown as KubeObject) : undefined;
  }
  async function list({ kind }: ResourceType, { namespace, metadataOnly }: ListRequest): Promise<ListPage> {
    answers.listed.push(`${kind} ${namespace} ${metadataOnly}`);
    return { items: answers.children.filter((each) => each.kind === kind), resourceVersion: "9" };
  }
  return answers;
}

const none: ReadonlySet<string> = new Set();
const { signal } = new AbortController();

it("a Project that is served and not seen is gone only where the API server has none either", async () => {
  expect(await server(true).confirmedDeletions.areConfirmed(unseen, served, none, signal)).toBe(false);
  expect(await server(false).confirmedDeletions.areConfirmed(unseen, served, none, signal)).toBe(true);
});

it("one whose deletion was told is gone, and nobody is asked", async () => {
  const reported = server(true);
  expect(await reported.confirmedDeletions.areConfirmed(unseen, served, new Set([uid]), signal)).toBe(true);
  expect(reported.asked).toBe(0);
});

describe("all keys that are missing, if only two, also where other children are there,", () => {
  const resources = ["books", "films", "notes"];
  const objects = resources.map((name) =>
    stored("ApiResource", name, { metadata: { uid: `uid-of-resource-${name}` } }),
  );
  const seen = projectObjects("shop", stored("Project", "shop"), ...objects);
  const keys = [withKey("ci"), withKey("web")];
  const children = [...resources.map((name) => withResource(name)), ...keys];
  const two: PublishedProject = { parts: project("shop", ...children), revision: 1 };
  const [keyUid = ""] = [...(two.parts?.keys.values() ?? [])].map((key) => key.uid);
  const key = { ...stored("ApiKey", "ci", { metadata: { uid: keyUid } }), kind: "ApiKey" } as unknown as KubeObject;

  it("are gone once seconds have passed and the API server lists none of them", async () => {
    const { confirmedDeletions, pass, listed } = server(true);
    const areConfirmed = () => confirmedDeletions.areConfirmed(seen, two, none, signal);
    // Events may bring the Project up as often as they like meanwhile.
    for (let look = 0; look < 3; look += 1) expect(await areConfirmed()).toBe(false);
    pass(3_999);
    expect(await areConfirmed()).toBe(false);
    expect(listed).toEqual([]);
    pass(1);
    expect(await areConfirmed()).toBe(true);
    expect(listed).toEqual(["ApiKey default true"]);
  });

  it("wait where the API server has one of them: what the watch brought is behind", async () => {
    const answers = server(true, [key]);
    const areConfirmed = () => answers.confirmedDeletions.areConfirmed(seen, two, none, signal);
    expect(await areConfirmed()).toBe(false);
    answers.pass(5_000);
    expect(await areConfirmed()).toBe(false);
    expect(answers.found).toEqual([1]);
    answers.children = [];
    expect(await areConfirmed()).toBe(true);
  });

  it("wait where the API server knows no such kind: nobody can say that they are gone", async () => {
    let now = 0;
    const confirmedDeletions = createConfirmedDeletions({
      api: {
        get: async () => undefined,
        list: async () => {
          throw new ApiFailure(404, { message: "the server could not find the requested resource" });
        },
      },
      monotonic: () => now,
      onFound: () => undefined,
    });
    expect(await confirmedDeletions.areConfirmed(seen, two, none, signal)).toBe(false);
    now = 5_000;
    expect(await confirmedDeletions.areConfirmed(seen, two, none, signal)).toBe(false);
  });

  it("are looked for anew once they were there in between", async () => {
    const { confirmedDeletions, pass } = server(true);
    const there = projectObjects(
      "shop",
      stored("Project", "shop"),
      ...objects,
      ...[...(two.parts?.keys.values() ?? [])].map((each) =>
        stored("ApiKey", each.uid, { metadata: { uid: each.uid } }),
      ),
    );
    expect(await confirmedDeletions.areConfirmed(seen, two, none, signal)).toBe(false);
    expect(await confirmedDeletions.areConfirmed(there, two, none, signal)).toBe(true);
    pass(5_000);
    expect(await confirmedDeletions.areConfirmed(seen, two, none, signal)).toBe(false);
  });
});

it("one that was withdrawn is asked for as long as its absence would delete data, those that were kept too", async () => {
  for (const of of [entry, { ...entry, retained: true as const }]) {
    expect(await server(true).confirmedDeletions.areConfirmed(unseen, withdrawn("Delete", of), none, signal)).toBe(
      false,
    );
  }
});

it("one that was withdrawn is not asked for where its absence decides over nothing", async () => {
  const kept = server(true);
  expect(
    await kept.confirmedDeletions.areConfirmed(
      unseen,
      withdrawn("Retain", { ...entry, policy: "Delete" }),
      none,
      signal,
    ),
  ).toBe(true);
  expect(
    await kept.confirmedDeletions.areConfirmed(
      unseen,
      withdrawn("Delete", { ...entry, purgeFromRevision: 3 }),
      none,
      signal,
    ),
  ).toBe(true);
  expect(kept.asked).toBe(0);
});
