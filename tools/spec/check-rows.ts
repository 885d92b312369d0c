// Judges which promises of the interface the last full run proved. A row is proved when all its
// tests ran and passed in a run of exactly this tree. Pure: rows and a run in, verdicts out.

import type { FullRun } from "../test-run/full-run.ts";
import type { TreeState } from "../test-run/tree-state.ts";
import type { SpecRow } from "./read-rows.ts";

export interface RowVerdict {
  readonly row: SpecRow;
  readonly proved: boolean;
  /** Why not, or by which tests. */
  readonly note: string;
}

/** Why a run says nothing of this tree; undefined when it does. */
export function staleness(run: FullRun | undefined, now: TreeState): string | undefined {
  if (run === undefined) return "there is no report of a full run: run npm test";
  if (run.before.tree !== run.after.tree)
    return "files changed while the last full run was under way: run npm test again";
  if (run.after.tree !== now.tree) return "the last full run was of another tree than this one: run npm test";
  return undefined;
}

export function checkRows(rows: readonly SpecRow[], run: FullRun): readonly RowVerdict[] {
  const passed = new Map<string, boolean>();
  for (const test of run.tests) {
    const name = `${test.file} › ${test.name}`;
    // Two tests of one name prove something together only.
    passed.set(name, test.passed && (passed.get(name) ?? true));
  }
  return rows.map((row) => checkRow(row, passed));
}

function checkRow(row: SpecRow, passed: ReadonlyMap<string, boolean>): RowVerdict {
  if (row.waits !== undefined) return { row, proved: false, note: `waits for ${row.waits}` };
  if (row.tests.length === 0) return { row, proved: false, note: "no test is named" };
  const absent = row.tests.find((name) => !passed.has(name));
  if (absent !== undefined) return { row, proved: false, note: `did not run: ${absent}` };
  const broken = row.tests.find((name) => passed.get(name) === false);
  if (broken !== undefined) return { row, proved: false, note: `did not pass: ${broken}` };
  return { row, proved: true, note: row.tests.join("; ") };
}

/** One line per row: a mark, the id, what it says, and the test or the reason. */
export function printedRows(verdicts: readonly RowVerdict[]): readonly string[] {
  const width = Math.max(...verdicts.map(({ row }) => row.id.length));
  return verdicts.map(
    ({ row, proved, note }) => `${markOf(row, proved)} ${row.id.padEnd(width)}  ${row.says}\n       ${note}`,
  );
}

function markOf(row: SpecRow, proved: boolean): string {
  if (proved) return "ok  ";
  return row.waits === undefined ? "OPEN" : "WAIT";
}

/** Rows that a full run must prove and did not. */
export function unprovedRows(verdicts: readonly RowVerdict[]): readonly RowVerdict[] {
  return verdicts.filter(({ row, proved }) => !proved && row.waits === undefined);
}
