// When the epoch is taken from whoever holds it, and when that one is asked first.

import { beforeEach, describe, expect, it } from "vitest";
import { Contest, type ContestObservation, newEpoch, type Writer } from "../../../../operator/publish/contest.ts";
import { KeyRingCopied, NotTheWriter, WriterAsked } from "../../../../operator/publish/refusals.ts";

const me: Writer = { place: "here/uid", name: "me" };
const colleague: Writer = { place: "here/uid", name: "colleague" };
const stranger: Writer = { place: "there/uid", name: "stranger" };

let now: number;
let standing: { epoch: string; question: string };
let asked: number;
let observed: ContestObservation[];
let contest: Contest;

beforeEach(() => {
  now = 0;
  asked = 0;
  observed = [];
  standing = { epoch: "", question: "" };
  contest = new Contest({
    me,
    async ask(epoch, question) {
      asked += 1;
      if (epoch !== standing.epoch) return undefined;
      if (standing.question === "") standing.question = question;
      return standing.question;
    },
    monotonic: () => now,
    observe: (observation) => void observed.push(observation),
  });
});

const held = (writer: Writer): void => {
  standing = { epoch: newEpoch(writer), question: "" };
};
const settle = () => contest.settle({ ...standing });
const taken = async (): Promise<void> => {
  await settle();
  contest.took(standing.epoch);
  held(me);
};
/** Looks as a timer does, every two seconds, with what the holder does in between. */
async function lookFor(milliseconds: number, holderDoes: () => void = () => undefined): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (const end = now + milliseconds; now < end; now += 2_000) {
    outcomes.push(
      await settle().then(
        () => "taken",
        (error: unknown) => (error as Error).name,
      ),
    );
    holderDoes();
  }
  return outcomes;
}
const answer = (): void => {
  standing.question = "";
};

describe("the epoch is taken at once", () => {
  it.each<readonly [string, () => void]>([
    ["from nobody", () => undefined],
    ["from itself, where an answer of Redis was lost", () => held(me)],
    ["from another process of the same installation", () => held(colleague)],
    ["from an operator of an earlier version", () => (standing.epoch = "a6a3d2d0-0000-4000-8000-000000000000")],
  ])("%s", async (_, given) => {
    given();
    await settle();
    expect(asked).toBe(0);
  });

  it("again from who had it before a Redis went back", async () => {
    held(colleague);
    const before = standing;
    await taken();
    standing = before;
    await settle();
    expect(asked).toBe(0);
  });

  it("also from an earlier term of who had it, and from an earlier version again and again", async () => {
    held(colleague);
    const earlier = standing;
    held(colleague);
    await taken();
    standing = earlier;
    await taken();
    for (const epoch of ["a6a3d2d0-0000-4000-8000-000000000000", "b7b4e3e1-0000-4000-8000-000000000000"]) {
      standing = { epoch, question: "" };
      await taken();
    }
    expect(asked).toBe(0);
  });

  it("by leaders that follow one another in any order", async () => {
    held(colleague);
    await taken();
    held({ ...me, name: "third" });
    await taken();
    expect(asked).toBe(0);
  });
});

describe("a holder of another installation", () => {
  it("is asked, and keeps the epoch as long as it answers, ever more seldom asked", async () => {
    held(stranger);
    const outcomes = await lookFor(3_600_000, answer);
    expect(outcomes).not.toContain("taken");
    expect(outcomes.slice(0, 2)).toEqual(["WriterAsked", "KeyRingCopied"]);
    expect(new Set(outcomes.slice(1))).toEqual(new Set(["KeyRingCopied"]));
    // 5, 10, 20, 40, 80, 160 and then 300 seconds and a look apart.
    expect(asked).toBeGreaterThan(14);
    expect(asked).toBeLessThan(20);
    expect(observed).toHaveLength(asked);
    expect(observed[0]).toEqual({ kind: "answered", place: stranger.place });
  });

  it("keeps it also when it begins anew meanwhile, and when somebody else asks as well", async () => {
    held(stranger);
    await expect(settle()).rejects.toBeInstanceOf(WriterAsked);
    held(stranger);
    standing.question = newEpoch(colleague);
    now += 2_000;
    await expect(settle()).rejects.toBeInstanceOf(KeyRingCopied);
  });

  it("loses it when it has not answered for as long as a Lease stands", async () => {
    held(stranger);
    const outcomes = await lookFor(17_000);
    expect(outcomes).toEqual([...Array(8).fill("WriterAsked"), "taken"]);
  });

  it("is given the time anew where nobody could look", async () => {
    held(stranger);
    await expect(settle()).rejects.toBeInstanceOf(WriterAsked);
    now += 60_000;
    expect((await lookFor(14_000)).includes("taken")).toBe(false);
    expect(await lookFor(4_000)).toContain("taken");
  });

  it("that stops answering loses it in the end, and until then a person is needed", async () => {
    held(stranger);
    await lookFor(60_000, answer);
    const outcomes = await lookFor(120_000);
    expect(outcomes).toContain("taken");
    expect(new Set(outcomes.slice(0, outcomes.indexOf("taken")))).toEqual(new Set(["KeyRingCopied"]));
  });

  it("that another one has followed is not asked in vain", async () => {
    held(stranger);
    const seen = { ...standing };
    held(colleague);
    await expect(contest.settle(seen)).rejects.toBeInstanceOf(NotTheWriter);
    await settle();
  });
});
