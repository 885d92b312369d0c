// Says why a version can't be released yet: each reason is a sentence, and none means that it can.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { runOrThrow } from "../parts/run-command.ts";
import { root } from "../read-crds.ts";
import { readFullRun } from "../test-run/full-run.ts";
import { treeState } from "../test-run/tree-state.ts";
import { changelogSection } from "./changelog.ts";
import { whyUnproved } from "./support-matrix.ts";

export async function notReady(version: string): Promise<readonly string[]> {
  const changelog = await readFile(join(root, "CHANGELOG.md"), "utf8");
  const chart = parse(await readFile(join(root, "charts/jsonplane/Chart.yaml"), "utf8"));
  const client = JSON.parse(await readFile(join(root, "client/package.json"), "utf8"));
  const tagged = await git("for-each-ref", "--format=%(objectname) %(*objectname)", `refs/tags/v${version}`);
  const head = await git("rev-parse", "HEAD");
  const unproved = whyUnproved(await readFullRun(root), await treeState(root));
  const reasons: readonly (readonly [boolean, string])[] = [
    [chart.version !== version, `the chart's version is ${chart.version}, the package's ${version}`],
    [chart.appVersion !== version, `the chart's appVersion is ${chart.appVersion}, the package's version ${version}`],
    [client.version !== version, `the client's version is ${client.version}, the package's ${version}`],
    [!changelogSection(changelog, version), `CHANGELOG.md has no section ${version}`],
    [Boolean(changelogSection(changelog, "Unreleased")), "CHANGELOG.md has changes under Unreleased"],
    [(await git("status", "--porcelain")) !== "", "there are changes that are not committed"],
    [tagged !== "" && !tagged.includes(head), `the tag v${version} is on another commit`],
    [unproved !== undefined, unproved ?? ""],
  ];
  return reasons.filter(([holds]) => holds).map(([, reason]) => reason);
}

async function git(...args: readonly string[]): Promise<string> {
  return (await runOrThrow("git", args, { cwd: root })).stdout.trim();
}
