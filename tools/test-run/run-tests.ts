// Runs vitest over some kinds of tests, shows what it prints, and turns its JSON reports into
// verdicts. Kinds are run in lanes, side by side: each lane is a vitest of its own with a number of
// files at a time, so that files that start fleets have a bounded share of the machine, and
// what waits most of its time leaves the processor to what computes.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type LaneTimes, type PartStart, timeSummary } from "./times.ts";
import { joinVerdicts, reportOrNothing, type Verdicts, verdictsOf } from "./vitest-report.ts";

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

export interface Lane {
  readonly name: string;
  readonly projects: readonly Project[];
  /** Test files at a time. */
  readonly workers: number;
  /** The only files of those projects, from the root; all of them by default. */
  readonly files?: readonly string[];
  /** Variables of its environment, such as which server is started for Redis. */
  readonly env?: () => Readonly<Record<string, string | undefined>>;
}

/** Where a lane leaves its reports, from the root. */
const folder = "test-results";
const reportOf = (lane: Lane): string => `${folder}/${lane.name}.json`;
const timesOf = (lane: Lane): string => `${folder}/${lane.name}-times.json`;
const startsFile = `${folder}/part-starts.jsonl`;

/** Runs the lanes to their ends. */
export async function runTests(root: string, lanes: readonly Lane[]): Promise<Verdicts> {
  await mkdir(join(root, folder), { recursive: true });
  return joinVerdicts(await Promise.all(lanes.map((lane) => runLane(root, lane))));
}

/** Prints where the time of those lanes went. */
export async function printTimes(root: string, lanes: readonly Lane[]): Promise<void> {
  const times = await Promise.all(lanes.map((lane) => laneTimes(root, lane)));
  const starts = (await textOf(join(root, startsFile))).split("\n").filter(Boolean);
  for (const line of timeSummary(
    times.flatMap(({ files }) => files),
    starts.map((line) => JSON.parse(line) as PartStart),
  ))
    console.log(line);
}

async function runLane(root: string, lane: Lane): Promise<Verdicts> {
  const path = join(root, reportOf(lane));
  await Promise.all([path, join(root, timesOf(lane))].map((file) => rm(file, { force: true })));
  const code = await vitest(root, lane, path);
  const expected = lane.files ?? (await testFiles(root, lane.projects));
  const verdicts = verdictsOf(await reportOrNothing(path), root, expected);
  const empty = lane.projects.filter((project) => !expected.some((file) => file.startsWith(`test/${project}/`)));
  const complaints = empty.map((project) => `There is no test in test/${project}`);
  complaints.push(...(await laneTimes(root, lane)).unhandled);
  if (code !== 0 && verdicts.failed + complaints.length === 0) complaints.push(`vitest ended with code ${code}`);
  return {
    ...verdicts,
    failed: verdicts.failed + complaints.length,
    complaints: [...verdicts.complaints, ...complaints],
  };
}

async function vitest(root: string, lane: Lane, report: string): Promise<number | null> {
  const args = [
    ...["run", `--maxWorkers=${lane.workers}`, ...lane.projects.flatMap((project) => ["--project", project])],
    ...[
      `--reporter=${process.env.CI ? "verbose" : "default"}`,
      `--reporter=${join(root, "tools/test-run/time-reporter.ts")}`,
    ],
    ...["--reporter=json", `--outputFile.json=${report}`],
    ...(lane.files ?? []),
  ];
  const env = {
    ...process.env,
    JSONPLANE_TEST_TIMES: join(root, timesOf(lane)),
    JSONPLANE_PART_STARTS: join(root, startsFile),
    ...lane.env?.(),
  };
  const child = spawn("vitest", args, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });
  return await endOf(child, join(root, report));
}

/**
 * What a test left running can keep vitest from ending, though it has written its report: it is
 * ended then, and the run has failed.
 */
export async function endOf(
  child: ChildProcess,
  report: string,
  {
    graceMs = 60_000,
    print = console.error,
  }: { readonly graceMs?: number; readonly print?: (line: string) => void } = {},
): Promise<number | null> {
  let reportedAt: number | undefined;
  const look = setInterval(() => {
    if (!existsSync(report)) return;
    reportedAt ??= performance.now();
    if (performance.now() - reportedAt < graceMs) return;
    print("vitest does not end: a test has left something running. It is killed.");
    child.kill("SIGKILL");
  }, graceMs / 60);
  try {
    const [code] = await once(child, "exit");
    return code;
  } finally {
    clearInterval(look);
  }
}

/**
 * One kind of test as a person works on it: what vitest prints, and its exit code. Further
 * arguments go to vitest.
 */
export async function runGroup(root: string, project: Project, args: readonly string[]): Promise<number> {
  const child = spawn("vitest", ["run", "--project", project, ...args], { cwd: root, stdio: "inherit" });
  const [code] = await once(child, "close");
  return code ?? 1;
}

async function laneTimes(root: string, lane: Lane): Promise<LaneTimes> {
  const text = await textOf(join(root, timesOf(lane)));
  return text === "" ? { files: [], unhandled: [] } : JSON.parse(text);
}

/** Empty where there is no such file. */
async function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

async function testFiles(root: string, wanted: readonly Project[]): Promise<readonly string[]> {
  const entries = await readdir(join(root, "test"), { recursive: true });
  const files = entries.map((entry) => `test/${entry}`).filter((file) => file.endsWith(".test.ts"));
  return files.filter((file) => wanted.some((project) => file.startsWith(`test/${project}/`))).sort();
}
