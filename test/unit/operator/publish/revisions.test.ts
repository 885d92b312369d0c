// How steps get their revisions: growing, one after the other, and never on top of what somebody else left.

import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import type { PublishReply } from "../../../../operator/publish/publish-scripts.ts";
import { NotTheWriter } from "../../../../operator/publish/refusals.ts";
import { type Numbered, Revisions } from "../../../../operator/publish/revisions.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const published: PublishReply = { outcome: "published" };
const overtaken = (revision: number): PublishReply => ({ outcome: "overtaken", revision: String(revision) });

function revisionsAt(last: string, now: number) {
  const clock = manualClock(now);
  const given: Numbered[] = [];
  const revisions = new Revisions(last, clock);
  /** One step that is answered so, each answer once; an error is thrown. */
  const step = (...answers: readonly (PublishReply | Error)[]): Promise<number> => {
    const left = [...answers];
    return revisions.advance(async (numbered) => {
      given.push(numbered);
      const answer = left.shift() ?? published;
      if (answer instanceof Error) throw answer;
      return answer;
    });
  };
  return { clock, revisions, given, step };
}

describe("revisions", () => {
  it("are milliseconds, and one more where these would not grow", async () => {
    const { clock, step, revisions, given } = revisionsAt("0", 1_000);
    expect([await step(), await step()]).toEqual([1_000, 1_001]);
    clock.advance(500);
    expect(await step()).toBe(1_500);
    expect(revisions.newest()).toBe(1_500);
    expect(given.map(({ lastRevision }) => lastRevision)).toEqual(["0", "1000", "1001"]);
    const ahead = revisionsAt("9000", 1_000);
    expect(await ahead.step()).toBe(9_001);
  });

  it("are given one after the other", async () => {
    const { revisions } = revisionsAt("0", 1_000);
    let running = 0;
    const slow = () =>
      revisions.advance(async () => {
        running += 1;
        expect(running).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return published;
      });
    expect(await Promise.all([slow(), slow(), slow()])).toEqual([1_000, 1_001, 1_002]);
  });

  it("go on after a step that failed, and the newest is one that was published", async () => {
    const { revisions, step } = revisionsAt("5", 1_000);
    await expect(step(new StoreUnavailable("away"))).rejects.toThrow(StoreUnavailable);
    expect(revisions.newest()).toBe(5);
    expect(await step()).toBe(1_001);
  });

  it.each([
    ["of nobody that is known", overtaken(77)],
    ["of a step that failed", overtaken(1_000)],
    ["of an older time", overtaken(2)],
    ["of another writer", { outcome: "not_the_writer" } as const],
  ])("end at a revision %s", async (_, answer) => {
    const { step } = revisionsAt("5", 1_000);
    await expect(step(new StoreUnavailable("away"))).rejects.toThrow(StoreUnavailable);
    await expect(step(answer)).rejects.toThrow(NotTheWriter);
  });

  it("stand while Redis says the newest", async () => {
    const { revisions, step } = revisionsAt("5", 1_000);
    const stands = (found: string) => revisions.stands(async () => found);
    expect([await stands("5"), await stands("4")]).toEqual([true, false]);
    await expect(step(new StoreUnavailable("away"))).rejects.toThrow(StoreUnavailable);
    expect([await stands("5"), await stands("1000")]).toEqual([true, false]);
    await step();
    expect([await stands("1001"), await stands("5")]).toEqual([true, false]);
  });
});
