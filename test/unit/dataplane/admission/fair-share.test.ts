import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import {
  contendedLimit,
  createFairShareLimiter,
  type FairShareLimiter,
  maxWaiting,
  maxWaitMs,
  type ProjectLimiter,
  soloLimit,
  type Work,
} from "../../../../dataplane/admission/fair-share.ts";
import type { LiveProject } from "../../../../dataplane/config/directory.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";

let clock: ManualClock;
let limiter: FairShareLimiter;
let loud: ProjectLimiter;
let quiet: ProjectLimiter;

beforeEach(() => {
  clock = manualClock();
  limiter = createFairShareLimiter(clock);
  loud = limiter.of({} as LiveProject);
  quiet = limiter.of({} as LiveProject);
});

/** Begins work of one unit so often; what of it began at once, and what waits. */
function begin(limiter: ProjectLimiter, times: number): { readonly begun: Work[]; readonly waiting: Promise<Work>[] } {
  const all = Array.from({ length: times }, () => limiter.begin(1));
  const waiting = all.filter((each): each is Promise<Work> => each instanceof Promise);
  for (const wait of waiting) wait.catch(() => undefined);
  return { begun: all.filter((each): each is Work => !(each instanceof Promise)), waiting };
}

function ask(limiter: ProjectLimiter, length = 0): void {
  const work = limiter.begin(1);
  expect(work).not.toBeInstanceOf(Promise);
  (work as Work).end(length);
}

describe("a project's share of a replica", () => {
  it("is what keeps Redis busy while nobody else asks, and no more: all wait behind what Redis was given", () => {
    ask(loud);
    expect(begin(loud, 500).begun).toHaveLength(soloLimit);
  });

  it("is small until a first answer said what answers cost", () => {
    const { begun } = begin(loud, 500);
    expect(begun).toHaveLength(contendedLimit);
    begun[0]?.end(1_000_000);
    expect(begin(loud, 1).waiting).toHaveLength(1);
  });

  it("is taken by what an answer has where that is known before, which says nothing of the answers of others", () => {
    ask(loud);
    const large = loud.begin(1, 1_000_000);
    expect(large).not.toBeInstanceOf(Promise);
    expect(begin(loud, 1).waiting).toHaveLength(1);
    (large as Work).end(1_000_000);
    expect(begin(loud, 500).begun.length).toBeGreaterThanOrEqual(soloLimit - 1);
  });

  it("is bounded as soon as another project asked, and that one finds room", () => {
    ask(loud);
    ask(quiet);
    expect(begin(loud, 500).begun).toHaveLength(contendedLimit);
    ask(quiet);
  });

  it("is all of it again a second after the last request of others", async () => {
    ask(quiet);
    const { begun, waiting } = begin(loud, 20);
    clock.advance(1_001);
    begun[0]?.end(0);
    await Promise.all(waiting);
    expect(begin(loud, 40).waiting).toEqual([]);
  });

  it("stays bounded for each of three that ask by turns", () => {
    const third = limiter.of({} as LiveProject);
    ask(quiet);
    ask(third);
    expect([loud, quiet, third].map((share) => begin(share, 20).begun.length)).toEqual([8, 8, 8]);
  });

  it("is handed on in the order of arrival", async () => {
    ask(quiet);
    const { begun } = begin(loud, contendedLimit);
    const order: string[] = [];
    begin(loud, 3).waiting.forEach((wait, index) => void wait.then(() => order.push(`${index + 1}.`)));
    begun[0]?.end(0);
    begun[1]?.end(0);
    await turnOfTheLoop();
    expect(order).toEqual(["1.", "2."]);
  });

  it("counts large answers as more: those that came last tell what the next ones cost", async () => {
    ask(quiet);
    ask(loud, 1_000_000);
    // What is larger than the whole share runs, alone.
    const { begun, waiting } = begin(loud, 2);
    expect([begun.length, waiting.length]).toEqual([1, 1]);
    begun[0]?.end(100);
    for (let read = 0; read < 60; read += 1) void waiting.push(...begin(loud, 1).waiting);
    for (const wait of waiting) (await wait).end(100);
    expect(begin(loud, 20).begun).toHaveLength(contendedLimit);
  });

  it("counts what waits by the answers that come meanwhile", async () => {
    ask(quiet);
    const { begun } = begin(loud, contendedLimit);
    const { waiting } = begin(loud, 4);
    let started = 0;
    for (const wait of waiting) void wait.then(() => (started += 1));
    for (const work of begun) work.end(1_000_000);
    await turnOfTheLoop();
    expect(started).toBe(1);
  });

  it("learns nothing from what was not answered", () => {
    ask(quiet);
    ask(loud, 1_000_000);
    for (let time = 0; time < 100; time += 1) (begin(loud, 1).begun[0] as Work).end(undefined);
    expect(begin(loud, 2).waiting).toHaveLength(1);
  });

  it("refuses who would wait behind too many", async () => {
    ask(quiet);
    const { begun, waiting } = begin(loud, contendedLimit + maxWaiting + 1);
    await expect(waiting.at(-1)).rejects.toMatchObject({ code: "project_busy", headers: { "Retry-After": "1" } });
    begun[0]?.end(0);
    await waiting[0];
  });

  it("goes by how long somebody waited, not by the time of day", async () => {
    ask(quiet);
    const { begun } = begin(loud, contendedLimit);
    const { waiting } = begin(loud, 1);
    clock.adjust(3_600_000);
    begun[0]?.end(0);
    (await waiting[0])?.end(0);
    expect(begin(loud, soloLimit).begun).toHaveLength(1);
  });

  it("refuses who has waited too long, and goes on with those who have not", async () => {
    ask(quiet);
    const { begun } = begin(loud, contendedLimit);
    const late = begin(loud, 3).waiting;
    clock.advance(maxWaitMs + 1);
    ask(quiet);
    const { waiting } = begin(loud, 1);
    begun[0]?.end(0);
    for (const wait of late) await expect(wait).rejects.toMatchObject({ code: "project_busy" });
    await waiting[0];
  });
});
