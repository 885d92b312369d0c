import { expect, it } from "vitest";
import { objectCounts, unavailableProjects } from "../../../../operator/observe/object-counts.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

const saying = (kind: "Project" | "RootKey", said: Readonly<Record<string, string>>) => {
  const conditions = Object.entries(said).map(([type, status]) => ({ type, status }));
  return stored(kind, "shop", { status: { conditions } });
};

it("objects are counted by kind, condition and its status, and those without a status not at all", () => {
  const objects = [
    saying("Project", { Ready: "True", Available: "Unknown" }),
    saying("Project", { Ready: "True" }),
    saying("RootKey", { Ready: "True" }),
    stored("Project", "new"),
  ];
  expect(objectCounts(objects)).toEqual([
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
    saying("Project", { Ready: "True" }),
    saying("RootKey", { Ready: "True" }),
    stored("Project", "new"),
  ];
  expect(unavailableProjects(objects)).toBe(2);
});
