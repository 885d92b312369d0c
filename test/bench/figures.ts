// What all benchmarks do with their figures: how long they measure, medians, ratios, and a note
// on the machine. Refuses, with WrongArguments, a length that is no number.

import { availableParallelism, loadavg } from "node:os";
import { wholeNumber } from "../../tools/script-arguments.ts";

const cores = availableParallelism();
const [loadAtStart = 0] = loadavg();

/** BENCH_ROUNDS and BENCH_SECONDS override the defaults. */
export function lengthOf(defaults: { readonly rounds: number; readonly seconds: number }): typeof defaults {
  const read = (variable: string, value: number): number => {
    const text = process.env[variable];
    return text === undefined ? value : wholeNumber(variable, text, 1);
  };
  return { rounds: read("BENCH_ROUNDS", defaults.rounds), seconds: read("BENCH_SECONDS", defaults.seconds) };
}

/** NaN of none. */
export function quantile(values: readonly number[], part: number): number {
  const ordered = values.toSorted((left, right) => left - right);
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * part))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The median with the lowest and highest: `0.83 (0.81–0.85)`. */
export function spread(ratios: readonly number[]): string {
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
  return `${median(ratios).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}

/** Round by round. */
export function ratiosOf(ours: readonly number[], theirs: readonly number[]): readonly number[] {
  return ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
}

/** The load average counts programs that wanted a core in the minute before. */
export function machine(): string {
  const isBusy = loadAtStart >= cores / 2;
  return `${cores} cores, load average ${loadAtStart.toFixed(1)}${isBusy ? ": others were running, measure again" : ""}`;
}

export function printTable(heading: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  const rule = heading.map((_, index) => (index === 0 ? "---" : "---:"));
  console.log([heading, rule, ...rows].map(line).join("\n"));
}
