import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import type { LiveProject } from "../../../../dataplane/config/directory.ts";
import {
  createProjectShares,
  longestWaitMs,
  mostWaiting,
  type ProjectShare,
  type ProjectShares,
  sharedUnits,
} from "../../../../dataplane/perform/project-shares.ts";
import { type ManualClock, manualClock } from "../../../support/manual-clock.ts";

let clock: ManualClock;
let shares: ProjectShares;
let loud: ProjectShare;
let quiet: ProjectShare;

beforeEach(() => {
  clock = manualClock();
  shares = createProjectShares(clock);
  loud = shares.of({} as LiveProject);
  quiet = shares.of({} as LiveProject);
});

/** Begins work of one unit so often; how much of it began at once. */
function begin(share: ProjectShare, times: number): { readonly atOnce: number; readonly waiting: Promise<void>[] } {
  const waiting: Promise<void>[] = [];
  for (let time = 0; time < times; time += 1) {
    const wait = share.begin(1);
    if (wait !== undefined) waiting.push(wait);
  }
  for (const wait of waiting) wait.catch(() => undefined);
  return { atOnce: times - waiting.length, waiting };
}

function ask(share: ProjectShare): void {
  expect(share.begin(1)).toBeUndefined();
  share.end(1, 0);
}

describe("a project's share of a replica", () => {
  it("is all of it while nobody else asks", () => {
    expect(begin(loud, 500).atOnce).toBe(500);
  });

  it("is bounded as soon as another project asked, and that one finds room", () => {
    ask(quiet);
    expect(begin(loud, 500).atOnce).toBe(sharedUnits);
    ask(quiet);
  });

  it("is all of it again a second after the last request of others", async () => {
    ask(quiet);
    const { waiting } = begin(loud, 20);
    clock.advance(1_001);
    loud.end(1, 0);
    await Promise.all(waiting);
    expect(begin(loud, 100).atOnce).toBe(100);
  });

  it("stays bounded for each of three that ask by turns", () => {
    const third = shares.of({} as LiveProject);
    ask(quiet);
    ask(third);
    expect([loud, quiet, third].map((share) => begin(share, 20).atOnce)).toEqual([8, 8, 8]);
  });

  it("is handed on in the order of arrival", async () => {
    ask(quiet);
    begin(loud, sharedUnits);
    const order: string[] = [];
    for (const name of ["first", "second", "third"]) void loud.begin(1)?.then(() => order.push(name));
    loud.end(1, 0);
    loud.end(1, 0);
    await turnOfTheLoop();
    expect(order).toEqual(["first", "second"]);
  });

  it("counts large answers as more: those that came last tell what the next ones cost", () => {
    ask(quiet);
    expect(loud.unitsOf(1)).toBe(1);
    expect(loud.begin(1)).toBeUndefined();
    loud.end(1, 1_000_000);
    const units = loud.unitsOf(1);
    expect(units).toBeGreaterThan(sharedUnits);
    // What is larger than the whole share runs, alone.
    expect(loud.begin(units)).toBeUndefined();
    expect(loud.begin(units)).toBeInstanceOf(Promise);
    for (let read = 0; read < 60; read += 1) loud.end(0, 100);
    expect(loud.unitsOf(1)).toBe(1);
  });

  it("refuses who would wait behind too many", async () => {
    ask(quiet);
    const { waiting } = begin(loud, sharedUnits + mostWaiting + 1);
    await expect(waiting.at(-1)).rejects.toMatchObject({ code: "project_busy", headers: { "Retry-After": "1" } });
    loud.end(1, 0);
    await waiting[0];
  });

  it("refuses who has waited too long, and goes on with those who have not", async () => {
    ask(quiet);
    begin(loud, sharedUnits);
    const late = begin(loud, 3).waiting;
    clock.advance(longestWaitMs + 1);
    ask(quiet);
    const { waiting } = begin(loud, 1);
    loud.end(1, 0);
    for (const wait of late) await expect(wait).rejects.toMatchObject({ code: "project_busy" });
    await waiting[0];
  });
});
