// The promises of Counters: budgets that all replicas share, spent together or not at all,
// refunded, renewed.

import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Budget, SpendOutcome } from "../../../dataplane/store/ports/limits.ts";
import { eventually } from "../../support/time/eventually.ts";
import { type MakeStore, pass, type StoreUnderTest, twoReplicas, useStore } from "./fixture.ts";

type Subject = () => StoreUnderTest;

export function describeCounterStore(name: string, make: MakeStore): void {
  describe(`${name}: counters`, () => {
    const subject = useStore(make);
    describeSpending(subject);
    describeWindows(subject);
  });
}

function budget(limit: number, windowSeconds = 300): Budget {
  return { name: `login:ns/shop:${randomUUID()} "é"`, limit, windowSeconds };
}

const spent = { outcome: "spent" } as const;

function expectExhausted(answer: SpendOutcome, windowSeconds: number): void {
  expect(answer.outcome).toBe("exhausted");
  if (answer.outcome !== "exhausted") return;
  expect(Number.isInteger(answer.retryAfterSeconds)).toBe(true);
  expect(answer.retryAfterSeconds).toBeGreaterThanOrEqual(1);
  expect(answer.retryAfterSeconds).toBeLessThanOrEqual(windowSeconds);
}

function describeSpending(subject: Subject): void {
  it("spends a budget up to its limit, counted over all replicas", async () => {
    const stores = await twoReplicas(subject());
    const logins = budget(3);
    expect(await stores[0].spend([logins])).toEqual(spent);
    expect(await stores[1].spend([logins])).toEqual(spent);
    expect(await stores[0].spend([logins])).toEqual(spent);
    for (const store of stores) expectExhausted(await store.spend([logins]), 300);
  });

  it("counts each name by itself", async () => {
    const { store } = subject();
    const [one, other] = [budget(1), budget(1)];
    expect(await store.spend([one])).toEqual(spent);
    expect(await store.spend([other])).toEqual(spent);
    expectExhausted(await store.spend([one]), 300);
  });

  it("takes from every budget or, when one is exhausted, from none", async () => {
    const { store } = subject();
    const [small, large] = [budget(1, 60), budget(3, 3_600)];
    expect(await store.spend([small, large])).toEqual(spent);
    for (let n = 0; n < 5; n += 1) {
      expectExhausted(await store.spend([small, large]), 60);
      expectExhausted(await store.spend([large, small]), 60);
    }
    expect(await store.spend([large])).toEqual(spent);
    expect(await store.spend([large])).toEqual(spent);
    expectExhausted(await store.spend([large]), 3_600);
  });

  it("names the longest wait when several budgets are exhausted", async () => {
    const { store } = subject();
    const [short, long] = [budget(1, 60), budget(1, 3_600)];
    await store.spend([short, long]);
    const answer = await store.spend([short, long]);
    expectExhausted(answer, 3_600);
    if (answer.outcome === "exhausted") expect(answer.retryAfterSeconds).toBeGreaterThan(60);
  });

  it("spends nothing for no budget, and nothing from a budget of zero", async () => {
    const { store } = subject();
    expect(await store.spend([])).toEqual(spent);
    await store.refund([]);
    expectExhausted(await store.spend([budget(0)]), 300);
  });

  it("spends exactly the limit when many replicas spend at once", async () => {
    const stores = await twoReplicas(subject());
    const [narrow, wide] = [budget(20), budget(1_000)];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => stores[n % 2 === 0 ? 0 : 1].spend([wide, narrow])),
    );
    expect(answers.filter(({ outcome }) => outcome === "spent")).toHaveLength(20);
  });

  it("gives back what is refunded, and never more than was spent", async () => {
    const { store } = subject();
    const [one, other] = [budget(2), budget(2)];
    await store.spend([one, other]);
    await store.spend([one, other]);
    expectExhausted(await store.spend([one, other]), 300);
    await store.refund([one, other]);
    expect(await store.spend([one, other])).toEqual(spent);
    expectExhausted(await store.spend([one]), 300);
    for (let n = 0; n < 5; n += 1) await store.refund([one]);
    expect(await store.spend([one])).toEqual(spent);
    expect(await store.spend([one])).toEqual(spent);
    expectExhausted(await store.spend([one]), 300);
    expectExhausted(await store.spend([other]), 300);
  });

  it("forgets a refund to a budget that was never spent", async () => {
    const { store } = subject();
    const fresh = budget(1);
    await store.refund([fresh]);
    expect(await store.spend([fresh])).toEqual(spent);
    expectExhausted(await store.spend([fresh]), 300);
  });
}

function describeWindows(subject: Subject): void {
  it("renews a budget when its window has passed", async () => {
    const { store } = subject();
    const brief = budget(2, 1);
    expect(await store.spend([brief])).toEqual(spent);
    await pass(subject(), 1_000);
    await eventually(async () => {
      // Two in a row only when the window is new: an old one would have one left.
      const answers = [await store.spend([brief]), await store.spend([brief])];
      expect(answers).toEqual([spent, spent]);
    });
  });

  it("renews an exhausted budget after retryAfterSeconds, tried in between or not", async () => {
    const { store } = subject();
    const brief = budget(1, 5);
    expect(await store.spend([brief])).toEqual(spent);
    await pass(subject(), 1_000);
    const answer = await store.spend([brief]);
    expectExhausted(answer, 5);
    await pass(subject(), answer.outcome === "exhausted" ? answer.retryAfterSeconds * 1_000 : 0);
    await eventually(async () => expect(await store.spend([brief])).toEqual(spent));
  });

  for (const off of [1_500, 301_000, -301_000]) {
    it(`counts by one time for all, also when the time of day of who spends is off by ${off / 1_000} s`, async () => {
      const logins = budget(3);
      const answers: SpendOutcome[] = [];
      for (let n = 0; n < 12; n += 1) {
        const store = await subject().offBy(n % 2 === 0 ? 0 : off);
        answers.push(await store.spend([logins]));
      }
      expect(answers.slice(0, 3)).toEqual([spent, spent, spent]);
      for (const answer of answers.slice(3)) expectExhausted(answer, 300);
      const other = await subject().offBy(off);
      await other.refund([logins]);
      const store = await subject().offBy(0);
      expect(await store.spend([logins])).toEqual(spent);
      expectExhausted(await store.spend([logins]), 300);
    });
  }
}
