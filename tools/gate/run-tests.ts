// Runs vitest over some of the projects, shows what it prints, and judges its JSON report.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readReport, type Verdicts, verdictsOf } from "./vitest-report.ts";

export const projects = [
  "unit",
  "meta",
  "store",
  "http",
  "operator",
  "chart",
  "image",
  "observability",
  "process",
  "security",
  "e2e",
] as const;
export type Project = (typeof projects)[number];

/** `report` is where vitest's JSON goes, from the root. */
export async function runTests(root: string, wanted: readonly Project[], report: string): Promise<Verdicts> {
  const path = join(root, report);
  await rm(path, { force: true });
  const reporter = process.env.CI ? "verbose" : "default";
  const times = join(root, "tools/gate/time-reporter.ts");
  const options = [`--reporter=${reporter}`, `--reporter=${times}`, "--reporter=json", `--outputFile.json=${path}`];
  const args = ["run", ...wanted.flatMap((project) => ["--project", project]), ...options];
  const child = spawn("vitest", args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "close");
  const expected = await testFiles(root, wanted);
  const empty = wanted.filter((project) => !expected.some((file) => file.startsWith(`test/${project}/`)));
  const judged = verdictsOf(await reportOr(path), root, expected);
  const complaints = [...judged.complaints, ...empty.map((project) => `There is no test in test/${project}`)];
  const silent = code !== 0 && judged.failed === 0;
  if (silent) complaints.push(`vitest ended with code ${code}`);
  return { ...judged, failed: judged.failed + empty.length + (silent ? 1 : 0), complaints };
}

/** One kind of test as a person works on it: what vitest prints, and its exit code. Further arguments go to vitest. */
export async function runGroup(root: string, project: Project, args: readonly string[]): Promise<number> {
  const child = spawn("vitest", ["run", "--project", project, ...args], { cwd: root, stdio: "inherit" });
  const [code] = await once(child, "close");
  return code ?? 1;
}

/** A run that wrote no report has passed nothing. */
function reportOr(path: string): ReturnType<typeof readReport> {
  return readReport(path).catch((error: unknown) => {
    console.error(`vitest left no report: ${error instanceof Error ? error.message : error}`);
    return { success: false, testResults: [] };
  });
}

async function testFiles(root: string, wanted: readonly Project[]): Promise<readonly string[]> {
  const entries = await readdir(join(root, "test"), { recursive: true });
  const files = entries.map((entry) => `test/${entry}`).filter((file) => file.endsWith(".test.ts"));
  return files.filter((file) => wanted.some((project) => file.startsWith(`test/${project}/`))).sort();
}
