import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { soloLimit } from "../../dataplane/admission/fair-share.ts";
import { scanBytes } from "../../dataplane/objects/list/filter-and-sort.ts";
import { pageBytes } from "../../dataplane/objects/list/run-without-index.ts";
import { root } from "../../tools/read-crds.ts";
import { growsAtMost, memoryLimit } from "../support/fleet/attacked-replica.ts";

const text = await readFile(join(root, "docs/security.md"), "utf8");
const rows = text.split("\n").filter((line) => line.startsWith("| ") && line.split("|").length === 5);
const mebibytes = (bytes: number) => `${bytes / (1024 * 1024)} MiB`;

describe("docs/security.md", () => {
  it("names a test for every threat, and every test named is there", () => {
    const threats = rows.filter((row) => !/^\| (threat|attack) \|/.test(row));
    expect(threats.length).toBeGreaterThan(30);
    const silent = threats.filter((row) => !/`test\/[\w/.-]+\.test\.ts`/.test(row));
    expect(silent).toEqual([]);
    const named = [...text.matchAll(/`((?:test|tools)\/[\w/.-]+\.(?:ts|yaml))`/g)].map(([, path]) => path ?? "");
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it("states the bounds as they are", async () => {
    expect(text).toContain(`was never ${mebibytes(memoryLimit)}`);
    expect(text).toContain(`less than ${mebibytes(growsAtMost)}`);
    expect(text).toContain(`${mebibytes(pageBytes)} a page, ${mebibytes(scanBytes)}`);
    expect(text).toContain(`up to ${soloLimit} units`);
    // The chart's own.
    const values = await readFile(join(root, "charts/jsonplane/values.yaml"), "utf8");
    expect(values.slice(values.indexOf("\ndataplane:"))).toMatch(
      /limits:\n {6}memory: 512Mi[\s\S]*\n {2}heapPercent: 60\n/,
    );
  });
});
