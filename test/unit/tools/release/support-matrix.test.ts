import { expect, it } from "vitest";
import { changelogSection } from "../../../../tools/release/changelog.ts";
import { supportMatrix } from "../../../../tools/release/support-matrix.ts";
import type { FullRun } from "../../../../tools/test-run/full-run.ts";

const here = { commit: "c1", tree: "t1" };
const run: FullRun = {
  before: here,
  after: here,
  finished: "2026-01-02T03:04:05Z",
  passed: 7,
  failed: 0,
  tests: [],
  parts: { "kube-apiserver": "1.36.3", kubelet: "1.36.3", node: "24.21.0" },
};

it("lists the versions that a full run of this tree passed with, and no others", () => {
  const on = (version: string, change: Partial<FullRun>) => ({
    ...run,
    passed: 3,
    parts: { "kube-apiserver": version },
    ...change,
  });
  const other = { commit: "c0", tree: "t0" };
  const further = [
    ...[on("1.30.14", {}), on("1.33.13", {})],
    ...[on("1.34.4", { failed: 1 }), on("1.35.4", { before: other, after: other })],
  ];
  const table = supportMatrix(run, further, here);
  expect(table).toContain("7 tests passed on 2026-01-02, with");
  expect(table.match(/^\| (?!what).*$/gm)).toEqual([
    "| Kubernetes, API server | 1.36.3 | all tests of custom resources, operator and chart |",
    "| Kubernetes, API server | 1.33.13 | 3 tests of custom resources, operator and chart |",
    "| Kubernetes, API server | 1.30.14 | 3 tests of custom resources, operator and chart |",
    "| Kubernetes, nodes | 1.36.3 | installation, upgrade and removal, with pods |",
    "| Node | 24.21.0 | all tests |",
  ]);
});

it.each([
  [undefined, "there is no report of a full run"],
  [{ ...run, after: { ...here, tree: "t0" }, before: { ...here, tree: "t0" } }, "was of another tree"],
  [{ ...run, failed: 1 }, "the last full run failed"],
])("knows nothing from %j", (unusable, reason) => {
  const table = supportMatrix(unusable, [], here);
  expect(table).toContain(reason);
  expect(table).not.toContain("1.36.3");
});

it("the notes of a version are its section of the changelog, and no longer one that begins with its number", () => {
  const changelog =
    "# Changelog\n\n## Unreleased\n\n## 1.0.0-rc.1\n\n- old\n\n## 1.0.0\n\n- new\n\n### More\n\n- two\n";
  expect(changelogSection(changelog, "1.0.0")).toBe("- new\n\n### More\n\n- two");
  expect(changelogSection(changelog, "Unreleased")).toBe("");
  expect(changelogSection(changelog, "2.0.0")).toBeUndefined();
});
