// Whatever comes in whatever order, a key is with one worker at most, and what was added is worked
// on afterwards.

import { array, asyncProperty, assert as check, constantFrom, integer, oneof, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { createWorkQueue, type WorkQueue } from "../../../../operator/queue/work-queue.ts";
import { type ManualTime, manualTime, settled } from "../../../support/time/manual-time.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

const keys = ["a", "b", "c", "d"] as const;

const steps = oneof(
  record({ kind: constantFrom("add", "addBulk", "retry", "done", "forget"), key: constantFrom(...keys) }),
  record({ kind: constantFrom("addAfter"), key: constantFrom(...keys), milliseconds: integer({ min: 0, max: 3_000 }) }),
  record({ kind: constantFrom("advance"), milliseconds: integer({ min: 1, max: 5_000 }) }),
  record({ kind: constantFrom("take") }),
);

type Step = {
  readonly kind: string;
  readonly key?: string;
  readonly milliseconds?: number;
};

interface Run {
  readonly time: ManualTime;
  readonly queue: WorkQueue;
  readonly working: Set<string>;
  /** Each key's mark that must be seen, and the newest that somebody began to work on. */
  readonly marked: Map<string, number>;
  readonly seen: Map<string, number>;
  marks: number;
}

function mark(run: Run, key: string): void {
  run.marks += 1;
  run.marked.set(key, run.marks);
}

function startTaking(run: Run): void {
  void run.queue.take().then((key) => {
    if (key === undefined) return;
    expect(run.working.has(key), `${key} is with two workers`).toBe(false);
    run.working.add(key);
    run.seen.set(key, run.marks);
  });
}

function perform(run: Run, { kind, key = "a", milliseconds = 0 }: Step): void {
  const { queue, working } = run;
  switch (kind) {
    case "add":
    case "addBulk":
      mark(run, key);
      queue.add(key, kind === "add" ? "live" : "bulk");
      break;
    case "addAfter":
      mark(run, key);
      queue.addAfter(key, milliseconds);
      break;
    case "retry":
      if (!working.has(key)) return;
      mark(run, key);
      queue.retry(key);
      break;
    case "done":
      if (working.delete(key)) queue.done(key);
      break;
    case "forget":
      queue.forget(key);
      break;
    case "take":
      startTaking(run);
      break;
  }
}

/** Enough workers for what is left. */
async function finish(run: Run): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    for (const key of run.working) run.queue.done(key);
    run.working.clear();
    for (const _ of keys) startTaking(run);
    await run.time.advance(70_000);
  }
}

describe("any interleaving of adds, takes, retries and ends", () => {
  test("gives a key to one worker at a time and loses no mark", async () => {
    await check(
      asyncProperty(array(steps, { maxLength: 60 }), integer({ min: 0, max: 99 }), async (sequence, chance) => {
        const time = manualTime();
        const queue = createWorkQueue({ ...time, random: () => chance / 100 });
        const run: Run = { time, queue, working: new Set(), marked: new Map(), seen: new Map(), marks: 0 };
        for (const step of sequence as readonly Step[]) {
          if (step.kind === "advance") await time.advance(step.milliseconds ?? 0);
          else perform(run, step);
          await settled();
        }
        await finish(run);
        for (const [key, number] of run.marked) {
          expect(run.seen.get(key) ?? 0, `the last mark of ${key}`).toBeGreaterThanOrEqual(number);
        }
        expect(queue.figures()).toMatchObject({ live: 0, bulk: 0, delayed: 0 });
      }),
      { numRuns: countForTier(300) },
    );
  });
});
