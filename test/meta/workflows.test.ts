// The workflows of .github: every action is pinned by commit, tokens read only by default, pull
// requests see no secret, and what they run is there.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { kubernetesMinors } from "../../tools/parts/kubernetes.ts";
import { root } from "../../tools/read-crds.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly steps: readonly Step[];
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = join(root, ".github/workflows");
const names = await readdir(folder);
const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
const makeTargets = [...(await readFile(join(root, "Makefile"), "utf8")).matchAll(/^([a-z0-9-]+):/gm)].map(
  (found) => found[1],
);
const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { scripts: object };

/** With every value of the job's matrix in place. */
function commandsOf({ steps, strategy }: Job): readonly string[] {
  const commands = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
  return Object.entries(strategy?.matrix ?? {}).reduce<readonly string[]>(
    (known, [name, values]) =>
      known.flatMap((command) => values.map((value) => command.replaceAll(`\${{ matrix.${name} }}`, value))),
    commands,
  );
}

describe.each(names.map((name, at) => [name, texts[at] ?? ""] as const))("workflow %s", (_name, text) => {
  const workflow = parse(text) as Workflow;
  const jobs = Object.values(workflow.jobs);

  it("pins every action by its whole commit, and says which version that is", () => {
    const uses = text.split("\n").filter((line) => /^\s*(?:- )?uses:/.test(line));
    expect(uses).toHaveLength(jobs.flatMap(({ steps }) => steps.filter((step) => step.uses !== undefined)).length);
    for (const line of uses) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it("may read the repository and nothing else by default; every job ends some day", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    for (const job of jobs) expect(job["timeout-minutes"]).toBeGreaterThan(0);
  });

  it("gives a pull request no secret and no right to write", () => {
    expect(Object.keys(workflow.on)).not.toContain("pull_request_target");
    if (!("pull_request" in workflow.on)) return;
    expect(text).not.toMatch(/\$\{\{[^}]*\bsecrets\b/);
    for (const { permissions = {} } of jobs) expect(Object.values(permissions)).not.toContain("write");
  });

  it("runs targets of the Makefile and scripts of package.json that are there", () => {
    const commands = jobs.flatMap(commandsOf).join("\n");
    for (const [, target] of commands.matchAll(/(?:^|[;&|]\s*)make ([\w-]+)/gm)) expect(makeTargets).toContain(target);
    for (const [, script] of commands.matchAll(/npm (?:run )?(?:--\S+ )*(test|(?<=run (?:--\S+ )*)\S+)/g))
      expect(Object.keys(scripts)).toContain(script);
  });

  it("puts nothing that others write into a shell command", () => {
    const commands = jobs.flatMap(({ steps }) => steps.map(({ run = "" }) => run)).join("\n");
    for (const [, name] of commands.matchAll(/\$\{\{ *([^ }]+) *\}\}/g)) expect(name).toMatch(/^matrix\./);
  });
});

it("there is a check, a run on real clusters of three minor versions, one on other engines, a nightly run and a release", async () => {
  expect([...names].sort()).toEqual(["check.yml", "e2e.yml", "engines.yml", "nightly.yml", "release.yml"]);
  const { jobs } = parse(await readFile(join(folder, "e2e.yml"), "utf8")) as Workflow;
  expect(jobs["kind"]?.strategy?.matrix["kubernetes"]).toHaveLength(3);
});

it("a release is tested on every version of Kubernetes that can be built, each night has those between, and a page names all", async () => {
  const [oldest, ...others] = kubernetesMinors;
  const between = others.slice(0, -1);
  const runOn = async (name: string) => {
    const { jobs } = parse(await readFile(join(folder, name), "utf8")) as Workflow;
    const commands = Object.values(jobs).flatMap(commandsOf).join("\n");
    return [...commands.matchAll(/npm test -- kubernetes (\S+)/g)].map(([, minor]) => minor);
  };
  expect(await runOn("nightly.yml")).toEqual(between);
  expect(await runOn("release.yml")).toEqual([oldest, ...between]);
  const page = await readFile(join(root, "docs/install.md"), "utf8");
  const row = page.split("\n").find((line) => line.startsWith("| Kubernetes ")) ?? "";
  expect([...new Set(row.match(/\b1\.\d+/g))].sort()).toEqual(kubernetesMinors);
});

/** What brings a tier of tests, and nothing that packs or publishes. */
const tiers = /\b(?:make (?:check|test|e2e)|npm test -- \w+)\b/g;

it.each([
  ["check.yml", ["make check", "make test"], ["pull_request", "push"]],
  ["e2e.yml", ["make e2e"], ["pull_request", "push", "schedule"]],
  ["engines.yml", ["npm test -- store", "npm test -- http"], ["pull_request", "schedule", "workflow_dispatch"]],
  ["nightly.yml", ["npm test -- nightly", "npm test -- kubernetes"], ["schedule", "workflow_dispatch"]],
  ["release.yml", ["make test", "npm test -- kubernetes"], ["push"]],
])("%s runs its tiers of tests, %j, on %j", (name, commands, events) => {
  const workflow = parse(texts[names.indexOf(name)] ?? "") as Workflow;
  const run = Object.values(workflow.jobs).flatMap(commandsOf).join("\n");
  expect([...new Set([...run.matchAll(tiers)].map(([command]) => command))]).toEqual(commands);
  expect(Object.keys(workflow.on).sort()).toEqual(events);
});

it("no tier may fail unnoticed: nothing of a workflow goes on after an error", () => {
  for (const text of texts) expect(text).not.toMatch(/continue-on-error|\|\| *true\b/);
});

it("the nightly tier has its steps beside the tests: mutations, chaos, a soak and so on", async () => {
  const steps = await readFile(join(root, "tools/test-run/nightly-steps.ts"), "utf8");
  const run = [...steps.matchAll(/name: ["`]([A-Za-z: ]+)/g)].map(([, step = ""]) => step.trim());
  expect(run).toEqual([
    "mutations",
    "chaos",
    "chaos on Valkey",
    "soak",
    "neighbours of a costly project",
    "neighbours of a hostile namespace",
    "fuzz",
    "fuzz openapi",
    "bare machine",
  ]);
});
