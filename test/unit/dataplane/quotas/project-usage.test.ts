import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { createProjectUsage } from "../../../../dataplane/quotas/project-usage.ts";
import { type Amounts, noAmounts } from "../../../../dataplane/quotas/stored-amounts.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const quota = { objects: 10, bytes: 1_000 };
const one = { required: { objects: 1 } };
const refused = { code: "quota_exceeded" };

describe("what a replica knows of a project's usage", () => {
  it("is asked of the store once for many writes of one second, and before a write after two", async () => {
    const { usage, clock, asked } = knowing({ objects: 1 });
    for (let n = 0; n < 3; n += 1) (await usage.reserve(quota, one)).commit({ objects: 1 });
    expect(asked()).toBe(1);
    clock.advance(1_500);
    await usage.reserve(quota, one);
    expect(asked()).toBe(2);
    clock.advance(2_500);
    await usage.reserve(quota, one);
    expect(asked()).toBe(3);
  });

  it("counts what is set aside until that ends: who finds no room beside it waits, and is refused only by what was written", async () => {
    const { usage } = knowing({ objects: 8 });
    const first = await usage.reserve(quota, one);
    const second = await usage.reserve(quota, one);
    const [third, fourth] = [usage.reserve(quota, one), usage.reserve(quota, one)];
    const isRefused = expect(fourth).rejects.toMatchObject(refused);
    first.commit({});
    second.commit({ objects: 1 });
    (await third).commit({ objects: 1 });
    await isRefused;
    await expect(usage.reserve(quota, one)).rejects.toMatchObject(refused);
  });

  it("does not have those wait who would be refused whatever others do, or who have room beside them", async () => {
    const { usage } = knowing({ objects: 9, bytes: 500 });
    await usage.reserve(quota, { required: { objects: 1, bytes: 400 } });
    await expect(usage.reserve(quota, { required: { objects: 2 } })).rejects.toMatchObject(refused);
    expect((await usage.reserve(quota, { upTo: { bytes: 100 } })).granted).toEqual({ bytes: 100 });
  });

  it("refuses by what the store says now when something was removed, or when it was asked a while ago", async () => {
    const { usage, clock, store } = knowing({ objects: 10 });
    await expect(usage.reserve(quota, one)).rejects.toMatchObject(refused);
    store.objects = 9;
    await expect(usage.reserve(quota, one)).rejects.toMatchObject(refused);
    usage.freed();
    (await usage.reserve(quota, one)).commit({});
    store.objects = 10;
    clock.advance(300);
    await expect(usage.reserve(quota, { required: { objects: 2 } })).rejects.toMatchObject(refused);
    store.objects = 5;
    clock.advance(300);
    await usage.reserve(quota, { required: { objects: 2 } });
  });

  it("grants as much as there is room for, and nothing where there is none", async () => {
    const { usage, store, clock } = knowing({ bytes: 900 });
    const first = await usage.reserve(quota, { upTo: { bytes: 80 } });
    const second = usage.reserve(quota, { upTo: { bytes: 80 } });
    expect(first.granted).toEqual({ bytes: 80 });
    first.commit({ bytes: 50 });
    expect((await second).granted).toEqual({ bytes: 50 });
    (await second).commit({ bytes: -500 });
    expect((await usage.reserve(quota, { upTo: { bytes: 80 } })).granted).toEqual({ bytes: 80 });
    store.bytes = 5_000;
    clock.advance(5_000);
    expect((await usage.reserve(quota, { upTo: { bytes: 80 } })).granted).toEqual({ bytes: 0 });
  });

  it("lets a write hear when the store can't be asked, unless it was asked within two seconds", async () => {
    const { usage, clock, store } = knowing({ objects: 1 });
    await usage.reserve(quota, one);
    store.objects = Number.NaN;
    clock.advance(1_500);
    await usage.reserve(quota, one);
    clock.advance(1_500);
    await expect(usage.reserve(quota, one)).rejects.toBeInstanceOf(StoreUnavailable);
    store.objects = 1;
    await usage.reserve(quota, one);
  });

  it("is looked at again soon after something was written, and seldom where nothing was", async () => {
    const { usage, clock, asked } = knowing({ objects: 1 });
    (await usage.reserve(quota, one)).commit({ objects: 1 });
    clock.advance(900);
    await usage.refreshAfter(60_000);
    expect(asked()).toBe(1);
    clock.advance(200);
    await usage.refreshAfter(60_000);
    expect(asked()).toBe(2);
    clock.advance(50_000);
    await usage.refreshAfter(60_000);
    expect(asked()).toBe(2);
    usage.freed();
    await usage.refreshAfter(60_000);
    expect(asked()).toBe(3);
    clock.advance(60_001);
    await usage.refreshAfter(60_000);
    expect(asked()).toBe(4);
  });

  it("goes by how old its amounts are, not by the time of day", async () => {
    const { usage, clock, asked } = knowing({});
    await usage.reserve(quota, one);
    for (const by of [3_600_000, -7_200_000]) {
      clock.adjust(by);
      await usage.reserve(quota, one);
    }
    expect(asked()).toBe(1);
    clock.advance(2_001);
    await usage.reserve(quota, one);
    expect(asked()).toBe(2);
  });

  it("refuses nobody by what was known before something was removed, while the store is asked for what is there now", async () => {
    const { usage, answers } = askedByHand();
    const first = expect(usage.reserve(quota, one)).rejects.toMatchObject(refused);
    answers[0]?.({ objects: 10 });
    await first;
    usage.freed();
    const second = usage.reserve(quota, one);
    await eventually(() => expect(answers).toHaveLength(2));
    const third = usage.reserve(quota, one);
    answers[1]?.({ objects: 8 });
    await second;
    await eventually(() => expect(answers).toHaveLength(3));
    answers[2]?.({ objects: 8 });
    await third;
  });

  it("does not go by what the store was asked before it was to be forgotten, and said only then", async () => {
    const { usage, answers } = askedByHand();
    const before = usage.reserve(quota, one);
    usage.forget();
    const after = expect(usage.reserve(quota, one)).rejects.toMatchObject(refused);
    answers[0]?.({ objects: 1 });
    await eventually(() => expect(answers).toHaveLength(2));
    answers[1]?.({ objects: 10 });
    await after;
    await expect(before).rejects.toMatchObject(refused);
  });
});

/** A store that answers when the test says so, and what. */
function askedByHand() {
  const answers: ((amounts: Partial<Amounts>) => void)[] = [];
  const read = () =>
    new Promise<Amounts>((resolve) => {
      answers.push((amounts) => resolve({ ...noAmounts, ...amounts }));
    });
  return { usage: createProjectUsage(read, manualClock()), answers };
}

function knowing(amounts: Partial<Amounts>) {
  const clock = manualClock();
  const store: { -readonly [kind in keyof Amounts]: number } = { ...noAmounts, ...amounts };
  let asked = 0;
  const usage = createProjectUsage(async () => {
    asked += 1;
    if (Number.isNaN(store.objects)) throw new StoreUnavailable("The store is away");
    return { ...store };
  }, clock);
  return { usage, clock, store, asked: () => asked };
}
