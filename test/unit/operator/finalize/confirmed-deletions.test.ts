// When a Project that no object explains may be taken for gone.

import { expect, it } from "vitest";
import { createConfirmedDeletions } from "../../../../operator/finalize/confirmed-deletions.ts";
import type { KubeObject } from "../../../../operator/kube/api.ts";
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

/** The API server has the Project, or not; `asked` counts. */
function server(found: boolean) {
  const clock = { now: 0 };
  const confirmedDeletions = createConfirmedDeletions({ get }, { lacks: () => false }, () => clock.now);
  const answers = { asked: 0, clock, confirmedDeletions };
  async function get(): Promise<KubeObject | undefined> {
    answers.asked += 1;
    return found ? (stored("Project", "shop") as unknown as KubeObject) : undefined;
  }
  return answers;
}

const none: ReadonlySet<string> = new Set();

it("a Project that is served and not seen is gone only where the API server has none either", async () => {
  expect(await server(true).confirmedDeletions.areConfirmed(unseen, served, none)).toBe(false);
  expect(await server(false).confirmedDeletions.areConfirmed(unseen, served, none)).toBe(true);
});

it("one whose deletion was told is gone, and nobody is asked", async () => {
  const reported = server(true);
  expect(await reported.confirmedDeletions.areConfirmed(unseen, served, new Set([uid]))).toBe(true);
  expect(reported.asked).toBe(0);
});

it("all keys that are missing, if only two, are looked for again after five seconds, also where other children are there", async () => {
  const { confirmedDeletions, clock } = server(true);
  const resources = ["books", "films", "notes"];
  const objects = resources.map((name) =>
    stored("ApiResource", name, { metadata: { uid: `uid-of-resource-${name}` } }),
  );
  const seen = projectObjects("shop", stored("Project", "shop"), ...objects);
  const children = [...resources.map((name) => withResource(name)), withKey("ci"), withKey("web")];
  const two: PublishedProject = { parts: project("shop", ...children), revision: 1 };
  for (const now of [0, 1, 4_999]) {
    clock.now = now;
    expect(await confirmedDeletions.areConfirmed(seen, two, none)).toBe(false);
  }
  clock.now = 5_000;
  expect(await confirmedDeletions.areConfirmed(seen, two, none)).toBe(true);
});

it("a Project that lacks what went with its definition is gone neither at the second look, nor by the API server's answer", async () => {
  const confirmedDeletions = createConfirmedDeletions({ get: async () => undefined }, { lacks: () => true }, () => 0);
  for (let look = 0; look < 3; look += 1)
    expect(await confirmedDeletions.areConfirmed(unseen, served, none)).toBe(false);
});

it("one that was withdrawn is asked for as long as its absence would delete data, those that were kept too", async () => {
  for (const of of [entry, { ...entry, retained: true as const }]) {
    expect(await server(true).confirmedDeletions.areConfirmed(unseen, withdrawn("Delete", of), none)).toBe(false);
  }
});

it("one that was withdrawn is not asked for where its absence decides over nothing", async () => {
  const kept = server(true);
  expect(
    await kept.confirmedDeletions.areConfirmed(unseen, withdrawn("Retain", { ...entry, policy: "Delete" }), none),
  ).toBe(true);
  expect(
    await kept.confirmedDeletions.areConfirmed(unseen, withdrawn("Delete", { ...entry, purgeFromRevision: 3 }), none),
  ).toBe(true);
  expect(kept.asked).toBe(0);
});
