// What comes from others: pinned, with known licences, installed without running their scripts,
// listed and attested on release.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { licencesOf } from "../../tools/generate-licences.ts";
import { root } from "../../tools/read-crds.ts";

const read = (path: string) => readFile(join(root, path), "utf8");

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
}

interface Locked {
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

async function lockedPackages(): Promise<Readonly<Record<string, Locked>>> {
  return (JSON.parse(await read("package-lock.json")) as { packages: Record<string, Locked> }).packages;
}

describe("a package that is shipped", () => {
  it("has no install script but argon2, which brings its programs built and works without it", async () => {
    const packages = Object.entries(await lockedPackages());
    const scripted = packages.filter(([, { dev, hasInstallScript }]) => hasInstallScript === true && dev !== true);
    expect(scripted.map(([path]) => path)).toEqual(["node_modules/argon2"]);
    const { scripts } = JSON.parse(await read("node_modules/argon2/package.json"));
    expect(scripts.install).toMatch(/node-gyp-build$/);
    const { hash } = await import("argon2");
    expect(await hash("x", { memoryCost: 1024, timeCost: 2 })).toMatch(/^\$argon2id\$/);
  });

  it("is refused with a licence that nobody has looked at, or none", () => {
    const locked = (license?: string) => ({ "node_modules/a": { version: "1.0.0", ...(license && { license }) } });
    expect([...licencesOf(locked("MIT"))]).toEqual([["MIT", ["a 1.0.0"]]]);
    expect(() => licencesOf(locked("AGPL-3.0"))).toThrow(/a 1\.0\.0 has the licence AGPL-3\.0/);
    expect(() => licencesOf(locked())).toThrow(/licence none/);
    expect([...licencesOf({ "node_modules/a": { license: "AGPL-3.0", dev: true } })]).toEqual([]);
  });
});

describe("the workflows", () => {
  it("ask for known weaknesses of what is shipped, on every change and before a release", async () => {
    const { scripts } = JSON.parse(await read("package.json")) as { scripts: Record<string, string> };
    expect(scripts["audit"]).toMatch(/npm audit --omit=dev --audit-level=low$/);
    for (const name of ["check", "release"])
      expect(await read(`.github/workflows/${name}.yml`)).toContain("run: npm run audit");
  });

  it("install without scripts, and attest image, chart and all files of a release after all tests", async () => {
    for (const name of ["check", "e2e", "release"]) {
      const text = await read(`.github/workflows/${name}.yml`);
      for (const line of text.split("\n").filter((each) => each.includes("npm ci")))
        expect(line).toMatch(/npm ci --ignore-scripts$/);
    }
    const { jobs } = parse(await read(".github/workflows/release.yml"));
    const steps = jobs.release.steps as readonly Step[];
    const commands = steps.map(({ run = "" }) => run);
    const published = commands.findIndex((run) => run.includes("npm run release -- --registry"));
    const checked = commands.indexOf("npm run audit");
    expect([jobs.release.needs, checked > 0, published > checked]).toEqual(["tests", true, true]);
    const attested = steps.filter(({ uses }) => uses?.startsWith("actions/attest-build-provenance@"));
    const subjects = attested.map((step) => step.with?.["subject-digest"] ?? step.with?.["subject-checksums"]);
    expect(subjects.map((subject) => subject?.match(/outputs\.\w+|^out.*/)?.[0])).toEqual([
      "outputs.image",
      "outputs.chart",
      "out/release/checksums.txt",
    ]);
    expect(jobs.release.permissions).toEqual({ contents: "read", "id-token": "write", attestations: "write" });
    expect(jobs.page.permissions).toEqual({ contents: "write" });
  });
});
