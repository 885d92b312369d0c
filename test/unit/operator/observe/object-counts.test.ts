import { describe, expect, it } from "vitest";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { createObjectCounts } from "../../../../operator/observe/figures.ts";
import { createProjectIndex } from "../../../../operator/watch/project-index.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

const saying = (kind: "Project" | "RootKey", statuses: Readonly<Record<string, string>>) => {
  const conditions = Object.entries(statuses).map(([type, status]) => ({ type, status }));
  return stored(kind, "shop", { status: { conditions } });
};

function counted(objects: readonly CustomResource[]) {
  const counts = createObjectCounts();
  for (const object of objects) counts.change(undefined, object);
  return counts;
}

it("objects are counted by kind, condition and its status, and those without a status not at all", () => {
  const objects = [
    saying("Project", { Ready: "True", Available: "Unknown" }),
    saying("Project", { Ready: "True" }),
    saying("RootKey", { Ready: "True" }),
    stored("Project", "new"),
  ];
  expect(counted(objects).objects()).toEqual([
    { kind: "Project", condition: "Ready", status: "True", count: 2 },
    { kind: "Project", condition: "Available", status: "Unknown", count: 1 },
    { kind: "RootKey", condition: "Ready", status: "True", count: 1 },
  ]);
});

it("a Project is unavailable when it is Ready and not known to be served; one that is not Ready is told of otherwise", () => {
  const objects = [
    saying("Project", { Ready: "True", Available: "False" }),
    saying("Project", { Ready: "True", Available: "Unknown" }),
    saying("Project", { Ready: "True", Available: "True" }),
    saying("Project", { Ready: "False", Available: "False" }),
    saying("RootKey", { Ready: "True" }),
    stored("Project", "new"),
  ];
  expect(counted(objects).unavailableProjects()).toBe(2);
});

it("an object that changes or goes is counted as it is last, and as nothing once it has gone", () => {
  const counts = createObjectCounts();
  const index = createProjectIndex(counts.change);
  index.put(saying("Project", { Ready: "True", Available: "False" }));
  index.put(saying("RootKey", { Ready: "False" }));
  expect(counts.unavailableProjects()).toBe(1);
  index.put(saying("Project", { Ready: "True", Available: "True" }));
  index.put(saying("RootKey", { Ready: "True" }));
  expect(counts.unavailableProjects()).toBe(0);
  expect(counts.objects()).toEqual([
    { kind: "Project", condition: "Ready", status: "True", count: 1 },
    { kind: "Project", condition: "Available", status: "True", count: 1 },
    { kind: "RootKey", condition: "Ready", status: "True", count: 1 },
  ]);
  index.remove(stored("RootKey", "shop"));
  index.remove(stored("RootKey", "shop"));
  index.remove(stored("Project", "shop"));
  expect([counts.objects(), counts.unavailableProjects()]).toEqual([[], 0]);
});

describe("objects that need a person", () => {
  const stalledIn = (namespace: string, name: string, reason: string, status = "True") => {
    const object = stored("RootKey", name, { status: { conditions: [{ type: "Stalled", status, reason }] } });
    return { ...object, metadata: { ...object.metadata, namespace } };
  };

  it("are counted by namespace, kind and reason, for as long as they are there and stalled", () => {
    const counts = createObjectCounts();
    const [one, two] = [stalledIn("shop", "one", "InvalidSpec"), stalledIn("shop", "two", "InvalidSpec")];
    for (const each of [one, two, stalledIn("blog", "one", "NameConflict")]) counts.change(undefined, each);
    expect(counts.stalled()).toEqual([
      { namespace: "shop", kind: "RootKey", reason: "InvalidSpec", count: 2 },
      { namespace: "blog", kind: "RootKey", reason: "NameConflict", count: 1 },
    ]);
    counts.change(one, stalledIn("shop", "one", "InvalidSpec", "False"));
    counts.change(two, undefined);
    expect(counts.stalled()).toEqual([{ namespace: "blog", kind: "RootKey", reason: "NameConflict", count: 1 }]);
  });

  it("make a thousand series at most: the rest are counted together", () => {
    const counts = createObjectCounts();
    for (let n = 0; n < 1_200; n += 1) counts.change(undefined, stalledIn(`team-${n}`, "one", "InvalidSpec"));
    expect(counts.stalled()).toHaveLength(1_001);
    expect(counts.stalled().at(-1)).toEqual({
      namespace: "(others)",
      kind: "RootKey",
      reason: "InvalidSpec",
      count: 200,
    });
    const shown = counts.stalled().map(({ namespace }) => namespace);
    // One that is written again, as with each change of a message, stays where it is.
    counts.change(stalledIn("team-0", "one", "InvalidSpec"), stalledIn("team-0", "one", "InvalidSpec"));
    expect(counts.stalled().map(({ namespace }) => namespace)).toEqual(shown);
  });
});
