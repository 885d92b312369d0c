import { expect, it } from "vitest";
import type { RolloutState } from "../../../../operator/publish/acknowledgements.ts";
import { actsAtOnce, createRevocations } from "../../../../operator/runtime/revocations.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

function measured() {
  const time = manualTime();
  const taken: number[] = [];
  let acknowledged = 0;
  const rolloutOf = (revision: number): RolloutState => (revision <= acknowledged ? "programmed" : "waiting");
  const revocations = createRevocations({
    monotonic: time.monotonic,
    rolloutOf,
    observe: (seconds) => taken.push(seconds),
  });
  const acknowledge = (revision: number): void => {
    acknowledged = revision;
    revocations.settle();
  };
  const pass = (revision?: number) =>
    revocations.during("default/shop", async () => {
      if (revision !== undefined) revocations.published("default/shop", revision);
    });
  return { time, taken, revocations, acknowledge, pass };
}

it("the time of a revocation lasts from its event until replicas have acknowledged what the next pass published", async () => {
  const { time, taken, revocations, acknowledge, pass } = measured();
  revocations.wanted("default/shop");
  await time.advance(100);
  revocations.wanted("default/shop");
  await pass(7);
  await time.advance(100);
  acknowledge(6);
  expect([taken, revocations.oldestSeconds()]).toEqual([[], 0.2]);
  acknowledge(7);
  expect([taken, revocations.oldestSeconds()]).toEqual([[0.2], 0]);
});

it("what comes while a pass is under way, and what a pass does not publish, waits for the next one", async () => {
  const { time, taken, revocations, acknowledge, pass } = measured();
  await revocations.during("default/shop", async () => {
    revocations.wanted("default/shop");
    revocations.published("default/shop", 7);
  });
  acknowledge(7);
  await time.advance(1_000);
  await pass();
  await expect(revocations.during("default/shop", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(revocations.oldestSeconds()).toBe(1);
  await pass(8);
  acknowledge(8);
  expect(taken).toEqual([1]);
});

it("of what replicas serve already is over as soon as the pass ends", async () => {
  const { time, taken, revocations, acknowledge, pass } = measured();
  acknowledge(7);
  revocations.wanted("default/shop");
  await time.advance(100);
  await pass(7);
  await time.advance(10_000);
  revocations.settle();
  expect(taken).toEqual([0.1]);
});

it("lowered access of a suspended Project is not measured: it goes on being served as it was", () => {
  const of = (suspend: boolean) => stored("Project", "shop", { spec: { suspend } });
  expect([actsAtOnce("lowered", of(true)), actsAtOnce("deleted", of(true))]).toEqual([false, true]);
  expect([actsAtOnce("lowered", of(false)), actsAtOnce("lowered", undefined)]).toEqual([true, true]);
});
