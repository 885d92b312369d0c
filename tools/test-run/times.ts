// Where the time of a run went: kinds of tests, the slowest files, and what starting real parts
// took. Times of files overlap, so the sums are more than the time that passed.

const shown = 25;

/** Seconds of one test file. */
export interface FileTime {
  /** From the root: `test/http/lists.test.ts`. */
  readonly file: string;
  /** Loading it. */
  readonly load: number;
  /** Its hooks and tests. */
  readonly run: number;
}

/** What tools/test-run/time-reporter.ts writes about one vitest. */
export interface LaneTimes {
  readonly files: readonly FileTime[];
  /** One sentence for each error that no test carries: they make vitest's exit code 1. */
  readonly unhandled: readonly string[];
}

/** One start of a real part, as test/support/process/part-starts.ts notes it. */
export interface PartStart {
  readonly part: string;
  readonly ms: number;
}

/** Lines to print. */
export function timeSummary(files: readonly FileTime[], starts: readonly PartStart[]): readonly string[] {
  return [
    "Hooks and tests | loading, by kind of test (files)",
    ...byKind(files).map(({ kind, count, load, run }) => `  ${figure(run)} ${figure(load)}  ${kind} (${count})`),
    "The slowest files",
    ...slowest(files).map(({ file, run }) => `  ${figure(run)}  ${file}`),
    "Starts of real parts: all together | the slowest (how many)",
    ...byPart(starts).map(({ part, count, total, max }) => `  ${figure(total)} ${figure(max)}  ${part} (${count})`),
  ];
}

function byKind(files: readonly FileTime[]) {
  const kinds = Map.groupBy(files, ({ file }) => file.split("/")[1] ?? file);
  const rows = [...kinds].map(([kind, of]) => {
    const [load, run] = [sum(of.map((file) => file.load)), sum(of.map((file) => file.run))];
    return { kind, count: of.length, load, run };
  });
  return rows.sort((one, other) => other.run - one.run);
}

function slowest(files: readonly FileTime[]): readonly FileTime[] {
  return [...files].sort((one, other) => other.run - one.run).slice(0, shown);
}

function byPart(starts: readonly PartStart[]) {
  const rows = [...Map.groupBy(starts, ({ part }) => part)].map(([part, of]) => {
    const seconds = of.map(({ ms }) => ms / 1_000);
    return { part, count: of.length, total: sum(seconds), max: Math.max(...seconds) };
  });
  return rows.sort((one, other) => other.total - one.total);
}

function sum(seconds: readonly number[]): number {
  return seconds.reduce((total, each) => total + each, 0);
}

function figure(seconds: number): string {
  return `${seconds.toFixed(1).padStart(7)} s`;
}
