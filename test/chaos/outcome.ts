// What one run of a scenario came to, in figures: made from its history alone.

import { slowestRevocation } from "./check/access.ts";
import { checkHistory } from "./check/check-history.ts";
import { type Entry, grouped, only } from "./history.ts";
import type { Scenario } from "./scenario.ts";

/** POSTs with an Idempotency-Key that were sent once more, and acknowledged. */
export interface Repeats {
  /** Whose answer was lost. */
  readonly unanswered: number;
  /** Of these: had taken place. */
  readonly done: number;
  /** Which were acknowledged already. */
  readonly acknowledged: number;
}

/** What subscribers were told. */
export interface Followed {
  readonly told: number;
  readonly connections: number;
  /** How often they had to list again, by the reason. */
  readonly resets: Readonly<Record<string, number>>;
}

export interface ScenarioOutcome {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly seconds: number;
  readonly violations: readonly string[];
  readonly writes: { readonly done: number; readonly refused: number; readonly unknown: number };
  readonly reads: number;
  readonly repeats: Repeats;
  readonly followed: Followed;
  /** What was broken, in order. */
  readonly faults: number;
  readonly lost: number;
  readonly late: number;
  /** Longest time in which no write was acknowledged to anybody. */
  readonly maxGapMs: number;
  /** Not a number when it never worked again. */
  readonly recoveredMs: number;
  readonly slowestAnswerMs: number;
  readonly revokedMs: number;
  /** What replicas logged as errors. */
  readonly errors: readonly string[];
}

export interface Played {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly seconds: number;
  readonly entries: readonly Entry[];
  readonly recoveredMs: number;
  readonly errors: readonly string[];
}

export function outcomeOf({ entries, ...played }: Played, slack: number): ScenarioOutcome {
  const writes = writesIn(entries);
  const answers = only(entries, "answer");
  return {
    ...played,
    ...checkHistory(entries, slack),
    ...tried(entries),
    followed: followedIn(entries),
    faults: only(entries, "fault").filter(({ what }) => what !== "mended").length,
    maxGapMs: maxGap(writes.filter(({ outcome }) => outcome === "done").map(({ to }) => to)),
    slowestAnswerMs: Math.max(0, ...answers.filter(({ status }) => status !== 0).map(({ from, to }) => to - from)),
    revokedMs: slowestRevocation(entries),
  };
}

type Tried = Pick<ScenarioOutcome, "writes" | "reads" | "repeats">;

/** What clients have done. */
export function tried(entries: readonly Entry[]): Tried {
  const writes = writesIn(entries);
  const count = (outcome: string): number => writes.filter((write) => write.outcome === outcome).length;
  const reads = [only(entries, "read"), only(entries, "list"), only(entries, "walk")];
  return {
    writes: { done: count("done"), refused: count("refused"), unknown: count("unknown") },
    repeats: repeatsOf(entries),
    reads: reads.reduce((sum, { length }) => sum + length, 0),
  };
}

/** A run in which hardly anything happened shows nothing. */
export function isTelling({ writes, reads, repeats }: Tried): boolean {
  return writes.done > 50 && reads > 50 && repeats.acknowledged > 20;
}

function writesIn(entries: readonly Entry[]) {
  return [...only(entries, "write"), ...only(entries, "append")];
}

function followedIn(entries: readonly Entry[]): Followed {
  const told = only(entries, "told");
  const resets = grouped(only(entries, "reset"), ({ reason }) => reason);
  return {
    told: told.length,
    connections: new Set(told.map(({ subscriber, connection }) => `${subscriber} ${connection}`)).size,
    resets: Object.fromEntries([...resets].map(([reason, all]) => [reason, all.length])),
  };
}

function repeatsOf(entries: readonly Entry[]): Repeats {
  const repeats = only(entries, "repeat");
  const unanswered = repeats.filter(({ before }) => before === "unknown");
  return {
    unanswered: unanswered.length,
    done: unanswered.filter(({ replayed }) => replayed).length,
    acknowledged: repeats.filter(({ before }) => before === "done").length,
  };
}

function maxGap(moments: readonly number[]): number {
  const sorted = moments.toSorted((a, b) => a - b);
  return Math.max(0, ...sorted.slice(1).map((at, before) => at - (sorted[before] ?? at)));
}
