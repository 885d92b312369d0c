// A reporter of vitest's that says where the time of a run went: kinds of tests, the slowest files, and what starting real parts took
// (test/support/part-starts.ts notes each start in a file that JSONPLANE_PART_STARTS names). Times of files overlap, so the sums are more
// than the time that passed.

import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const shown = 25;

/** Seconds of one test file: loading it, and its hooks and tests. */
interface FileTime {
  readonly kind: string;
  readonly file: string;
  readonly load: number;
  readonly run: number;
}

export default class TimeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map(timeOf);
    const starts = process.env.JSONPLANE_PART_STARTS;
    for (const line of [...timesByKind(files), ...slowest(files), ...(starts ? partStarts(starts) : [])]) {
      process.stdout.write(`${line}\n`);
    }
  }
}

function timeOf(module: TestModule): FileTime {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  const load = environmentSetupDuration + prepareDuration + collectDuration + setupDuration;
  const file = relative(process.cwd(), module.moduleId);
  return { kind: file.split("/")[1] ?? file, file, load: load / 1_000, run: duration / 1_000 };
}

function timesByKind(files: readonly FileTime[]): readonly string[] {
  const kinds = Map.groupBy(files, ({ kind }) => kind);
  const rows = [...kinds].map(([kind, of]) => ({ kind, count: of.length, load: sum(of, "load"), run: sum(of, "run") }));
  rows.sort((one, other) => other.run - one.run);
  return [
    "\nTime by kind of test: hooks and tests, loading (of so many files)",
    ...rows.map(({ kind, count, load, run }) => `  ${figure(run)} ${figure(load)}  ${kind} (${count})`),
  ];
}

function slowest(files: readonly FileTime[]): readonly string[] {
  const rows = [...files].sort((one, other) => other.run - one.run).slice(0, shown);
  return ["The slowest files", ...rows.map(({ file, run }) => `  ${figure(run)}  ${file}`)];
}

interface PartStart {
  readonly part: string;
  readonly ms: number;
}

function partStarts(path: string): readonly string[] {
  const starts = linesOf(path).map((line) => JSON.parse(line) as PartStart);
  const parts = Map.groupBy(starts, ({ part }) => part);
  const rows = [...parts].map(([part, of]) => {
    const times = of.map(({ ms }) => ms / 1_000);
    return { part, count: of.length, total: times.reduce((one, other) => one + other, 0), max: Math.max(...times) };
  });
  rows.sort((one, other) => other.total - one.total);
  return [
    "Starts of real parts: all, the slowest",
    ...rows.map(({ part, count, total, max }) => `  ${figure(total)} ${figure(max)}  ${part} (${count})`),
  ];
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch (error) {
    // Nothing was started.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function sum(files: readonly FileTime[], member: "load" | "run"): number {
  return files.reduce((total, file) => total + file[member], 0);
}

function figure(seconds: number): string {
  return `${seconds.toFixed(1).padStart(7)} s`;
}
