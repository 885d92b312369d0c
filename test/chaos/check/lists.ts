// Checks what was read of lists that one writer each adds to: every acknowledged number once, none
// that was refused or that nobody added, in the order in which they were added. What is lost, where
// some may be, is the end and never the middle.

import { type Append, type Entry, grouped, type ListRead, type Loss, only } from "../history.ts";
import type { CheckResult } from "./check-result.ts";

export function checkLists(entries: readonly Entry[]): CheckResult {
  const losses = only(entries, "loss");
  const appends = grouped(only(entries, "append"), ({ list }) => list);
  const reads = only(entries, "list");
  const checked = reads.map((read) => ({ list: read.list, ...checkRead(read, appends.get(read.list) ?? [], losses) }));
  const distinct = (of: "lost" | "late"): number =>
    new Set(checked.flatMap((each) => each[of].map((value) => `${each.list} ${value}`))).size;
  return {
    violations: checked.flatMap(({ violations }) => violations),
    lost: distinct("lost"),
    late: distinct("late"),
  };
}

interface Checked {
  readonly violations: readonly string[];
  readonly lost: readonly number[];
  readonly late: readonly number[];
}

function checkRead(read: ListRead, appends: readonly Append[], losses: readonly Loss[]): Checked {
  const added = new Map(appends.map((append) => [append.value, append]));
  const present = new Set(read.values);
  const missing = appends.filter(
    ({ value, outcome, to }) => outcome === "done" && to < read.from && !present.has(value),
  );
  const { outOfOrder, late } = disorder(read.values, added);
  const faults = [
    ...(present.size < read.values.length ? [`holds ${twice(read.values)} twice`] : []),
    ...[...present].flatMap((value) => strange(read, value, added.get(value))),
    ...missing.flatMap((append) => unexplained(append, { appends, present, losses })),
    ...(outOfOrder === undefined ? [] : [`holds ${outOfOrder} behind a later one`]),
  ];
  const violations = faults.map((fault) => `list ${read.list} at ${Math.round(read.from)} ${fault}`);
  return { violations, lost: missing.map(({ value }) => value), late };
}

function strange(read: ListRead, value: number, append: Append | undefined): readonly string[] {
  if (append === undefined) return [`holds ${value}, which nobody added`];
  if (append.outcome === "refused") return [`holds ${value}, which was refused`];
  return append.from > read.to ? [`holds ${value} before it was sent`] : [];
}

interface Held {
  readonly appends: readonly Append[];
  readonly present: ReadonlySet<number>;
  readonly losses: readonly Loss[];
}

/** Why it may not be missing. */
function unexplained(gone: Append, { appends, present, losses }: Held): readonly string[] {
  const loss = losses.find(({ from, to }) => gone.to >= from && gone.to <= to);
  if (loss === undefined) return [`lacks ${gone.value}, which was acknowledged`];
  const later = appends.some(
    ({ value, outcome, from, to }) => outcome === "done" && from > gone.to && to <= loss.to && present.has(value),
  );
  return later ? [`lacks ${gone.value} and holds what was acknowledged later, before the same crash`] : [];
}

function twice(values: readonly number[]): number | undefined {
  const seen = new Set<number>();
  return values.find((value) => seen.size === seen.add(value).size);
}

/** Only what nobody knew of may stand behind a later one. */
function disorder(values: readonly number[], added: ReadonlyMap<number, Append>) {
  let highest = Number.NEGATIVE_INFINITY;
  const late: number[] = [];
  let outOfOrder: number | undefined;
  for (const value of values) {
    if (value >= highest) highest = value;
    else if (added.get(value)?.outcome === "unknown") late.push(value);
    else outOfOrder ??= value;
  }
  return { outOfOrder, late };
}
