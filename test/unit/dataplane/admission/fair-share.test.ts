import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import {
  contendedLimit,
  createFairShareLimiter,
  type FairShareLimiter,
  maxWaiting,
  maxWaitMs,
  type ProjectLimiter,
  type Slot,
  soloLimit,
  turnMs,
} from "../../../../dataplane/admission/fair-share.ts";
import type { LiveProject } from "../../../../dataplane/config/directory.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

let clock: ManualClock;
let limiter: FairShareLimiter;
let loud: ProjectLimiter;
let quiet: ProjectLimiter;

function liveProject(uid: string): LiveProject {
  return { config: { uid } } as LiveProject;
}

beforeEach(() => {
  clock = manualClock();
  limiter = createFairShareLimiter(clock);
  loud = limiter.of(liveProject("loud"));
  quiet = limiter.of(liveProject("quiet"));
});

/** Acquires so many slots of weight 1: those that were free, and those that are waited for. */
function acquire(
  limiter: ProjectLimiter,
  times: number,
): { readonly acquired: Slot[]; readonly waiting: Promise<Slot>[] } {
  const all = Array.from({ length: times }, () => limiter.acquire(1));
  const waiting = all.filter((each): each is Promise<Slot> => each instanceof Promise);
  for (const wait of waiting) wait.catch(() => undefined);
  return { acquired: all.filter((each): each is Slot => !(each instanceof Promise)), waiting };
}

function ask(limiter: ProjectLimiter, length = 0): void {
  const slot = limiter.acquire(1);
  expect(slot).not.toBeInstanceOf(Promise);
  (slot as Slot).release(length);
}

describe("a project's share of a replica", () => {
  it("is what keeps Redis busy while nobody else asks, and no more: all wait behind what Redis was given", () => {
    ask(loud);
    expect(acquire(loud, 500).acquired).toHaveLength(soloLimit);
  });

  it("stays what it is alone when its configuration changes: that is no other project", () => {
    ask(loud);
    const changed = limiter.of(liveProject("loud"));
    ask(changed);
    expect(acquire(changed, 500).acquired).toHaveLength(soloLimit);
  });

  it("is small until a first answer said what answers cost", () => {
    const { acquired } = acquire(loud, 500);
    expect(acquired).toHaveLength(contendedLimit);
    acquired[0]?.release(1_000_000);
    expect(acquire(loud, 1).waiting).toHaveLength(1);
  });

  it("is taken by what an answer has where that is known before, which says nothing of the answers of others", () => {
    ask(loud);
    const large = loud.acquire(1, 1_000_000);
    expect(large).not.toBeInstanceOf(Promise);
    expect(acquire(loud, 1).waiting).toHaveLength(1);
    (large as Slot).release(1_000_000);
    expect(acquire(loud, 500).acquired.length).toBeGreaterThanOrEqual(soloLimit - 1);
  });

  it("is bounded as soon as another project asked, and that one finds room", () => {
    ask(loud);
    ask(quiet);
    expect(acquire(loud, 500).acquired).toHaveLength(contendedLimit);
    ask(quiet);
  });

  it("is all of it again a second after the last request of others", async () => {
    ask(quiet);
    const { acquired, waiting } = acquire(loud, 20);
    clock.advance(1_001);
    acquired[0]?.release(0);
    await Promise.all(waiting);
    expect(acquire(loud, 40).waiting).toEqual([]);
  });

  it("stays bounded for each of three that ask by turns", () => {
    const third = limiter.of(liveProject("third"));
    ask(quiet);
    ask(third);
    expect([loud, quiet, third].map((share) => acquire(share, 20).acquired.length)).toEqual([8, 8, 8]);
  });

  it("is handed on in the order of arrival", async () => {
    ask(quiet);
    const { acquired } = acquire(loud, contendedLimit);
    const order: string[] = [];
    acquire(loud, 3).waiting.forEach((wait, index) => void wait.then(() => order.push(`${index + 1}.`)));
    acquired[0]?.release(0);
    acquired[1]?.release(0);
    await turnOfTheLoop();
    expect(order).toEqual(["1.", "2."]);
  });

  it("counts large answers as more: those that came last tell what the next ones cost", async () => {
    ask(quiet);
    ask(loud, 1_000_000);
    // What is larger than the whole share runs, alone.
    const { acquired, waiting } = acquire(loud, 2);
    expect([acquired.length, waiting.length]).toEqual([1, 1]);
    acquired[0]?.release(100);
    for (let read = 0; read < 60; read += 1) void waiting.push(...acquire(loud, 1).waiting);
    for (const wait of waiting) (await wait).release(100);
    expect(acquire(loud, 20).acquired).toHaveLength(contendedLimit);
  });

  it("counts what waits by the answers that come meanwhile", async () => {
    ask(quiet);
    const { acquired } = acquire(loud, contendedLimit);
    const { waiting } = acquire(loud, 4);
    let started = 0;
    for (const wait of waiting) void wait.then(() => (started += 1));
    for (const slot of acquired) slot.release(1_000_000);
    await turnOfTheLoop();
    expect(started).toBe(1);
  });

  it("learns nothing from what was not answered", () => {
    ask(quiet);
    ask(loud, 1_000_000);
    for (let time = 0; time < 100; time += 1) (acquire(loud, 1).acquired[0] as Slot).release(undefined);
    expect(acquire(loud, 2).waiting).toHaveLength(1);
  });

  it("refuses who would wait behind too many", async () => {
    ask(quiet);
    const { acquired, waiting } = acquire(loud, contendedLimit + maxWaiting + 1);
    await expect(waiting.at(-1)).rejects.toMatchObject({ code: "project_busy", headers: { "Retry-After": "1" } });
    acquired[0]?.release(0);
    await waiting[0];
  });

  it("goes by how long somebody waited, not by the time of day", async () => {
    ask(quiet);
    const { acquired } = acquire(loud, contendedLimit);
    const { waiting } = acquire(loud, 1);
    clock.adjust(3_600_000);
    acquired[0]?.release(0);
    (await waiting[0])?.release(0);
    expect(acquire(loud, soloLimit).acquired).toHaveLength(1);
  });

  it("refuses who has waited too long, and goes on with those who have not", async () => {
    ask(quiet);
    const { acquired } = acquire(loud, contendedLimit);
    const late = acquire(loud, 3).waiting;
    clock.advance(maxWaitMs + 1);
    ask(quiet);
    const { waiting } = acquire(loud, 1);
    acquired[0]?.release(0);
    for (const wait of late) await expect(wait).rejects.toMatchObject({ code: "project_busy" });
    await waiting[0];
  });

  it("refuses on time who has waited too long, also while nothing ends, and asks for one timer at once", async () => {
    const time = manualTime();
    loud = createFairShareLimiter(time.clock, { timers: time.timers }).of(liveProject("loud"));
    const outcomes: string[] = [];
    const note = ({ waiting }: { readonly waiting: readonly Promise<Slot>[] }, name: string) => {
      for (const wait of waiting) wait.catch(({ code }) => outcomes.push(`${name}: ${code}`));
    };
    acquire(loud, contendedLimit);
    expect(time.waiting()).toBe(0);
    note(acquire(loud, 2), "first");
    await time.advance(500);
    note(acquire(loud, 1), "second");
    expect(time.waiting()).toBe(1);
    await time.advance(maxWaitMs - 501);
    expect(outcomes).toEqual([]);
    await time.advance(1);
    expect(outcomes).toEqual(["first: project_busy", "first: project_busy"]);
    await time.advance(499);
    expect(outcomes).toHaveLength(2);
    await time.advance(1);
    expect(outcomes.at(-1)).toBe("second: project_busy");
    expect(time.waiting()).toBe(0);
  });
});

describe("a project's turns of the event loop", () => {
  const slot = { release: () => undefined };
  let nextTurns: (() => void)[];
  let done: string[];
  beforeEach(() => {
    nextTurns = [];
    done = [];
    limiter = createFairShareLimiter(clock, {
      nextTurn: (run) => void nextTurns.push(run),
      elapsed: clock.monotonic,
      maxQueuedWork: 5 * maxWaiting,
    });
    loud = limiter.of(liveProject("loud"));
    quiet = limiter.of(liveProject("quiet"));
  });
  const compute = (project: ProjectLimiter, name: string, milliseconds: number) =>
    project.runFairly(() => {
      clock.advance(milliseconds);
      done.push(name);
    });
  const turn = () => {
    for (const run of nextTurns.splice(0)) run();
  };
  const allTurns = () => {
    while (nextTurns.length > 0) turn();
  };

  it("end when it has computed for a millisecond: the rest goes on in the next ones, in the order of arrival", async () => {
    const all = ["a", "b", "c", "d", "e"].map((name) => compute(loud, name, turnMs / 2));
    expect(done).toEqual(["a", "b"]);
    turn();
    expect(done).toEqual(["a", "b", "c", "d"]);
    turn();
    await Promise.all(all);
    expect(done).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("hold up no other project", () => {
    void compute(loud, "loud", 40);
    void compute(loud, "loud again", 40);
    void compute(quiet, "quiet", turnMs / 2);
    expect(done).toEqual(["loud", "quiet"]);
  });

  it("are charged for what is refused as for what succeeds", async () => {
    const refuse = () =>
      loud.runFairly(() => {
        clock.advance(turnMs);
        throw new Error("refused");
      });
    expect(refuse).toThrow("refused");
    const second = refuse() as Promise<never>;
    const third = refuse() as Promise<never>;
    turn();
    await expect(second).rejects.toThrow("refused");
    expect(nextTurns).toHaveLength(1);
    turn();
    await expect(third).rejects.toThrow("refused");
  });

  it("come after a rest of three times what a long piece took, while another project asks", async () => {
    const time = manualTime();
    const nextTurn = (run: () => void) => void nextTurns.push(run);
    const alone = createFairShareLimiter(time.clock, { timers: time.timers, nextTurn, elapsed: time.monotonic });
    const long = alone.of(liveProject("long"));
    const piece = () => long.runFairly(() => time.freeze(42), slot);
    void piece();
    expect([nextTurns.length, time.waiting()]).toEqual([1, 0]);
    turn();
    ask(alone.of(liveProject("other")));
    void piece();
    let isDone = false;
    void Promise.resolve(long.runFairly(() => undefined)).then(() => {
      isDone = true;
    });
    await time.advance(119);
    expect([nextTurns.length, isDone]).toEqual([0, false]);
    await time.advance(1);
    expect(isDone).toBe(true);
  });

  it("end after a few requests without a slot that compute next to nothing: Node has to receive and answer them", () => {
    for (let count = 0; count < 20; count += 1) void compute(loud, "refused", 0);
    expect(done).toHaveLength(5);
    turn();
    expect(done).toHaveLength(10);
  });

  it("come alternately to requests with a slot and without one, however many of either wait", async () => {
    void compute(loud, "first", turnMs);
    const others = Array.from({ length: maxWaiting }, () => compute(loud, "other", 0));
    const holders = ["holder 1", "holder 2"].map((name) => loud.runFairly(() => void done.push(name), slot));
    allTurns();
    await Promise.all([...others, ...holders]);
    expect(done.slice(0, 5)).toEqual(["first", "holder 1", "other", "holder 2", "other"]);
  });

  it("are refused to what has waited for them too long", async () => {
    void compute(loud, "first", turnMs);
    const late = compute(loud, "late", 0);
    clock.advance(maxWaitMs);
    turn();
    await expect(late).rejects.toMatchObject({ code: "project_busy" });
    expect(done).toEqual(["first"]);
  });

  it("are waited for by however many: who is refused at once asks again at once", async () => {
    void compute(loud, "first", turnMs);
    const waiting = Array.from({ length: 3 * maxWaiting }, () => compute(loud, "waiting", 0));
    allTurns();
    await Promise.all(waiting);
    expect(done).toHaveLength(1 + waiting.length);
  });

  it("are waited for by no more than connections may be open: requests of clients that left wait, too", async () => {
    void compute(loud, "first", turnMs);
    const waiting = Array.from({ length: 5 * maxWaiting }, () => compute(loud, "waiting", 0));
    await expect(compute(loud, "more", 0)).rejects.toMatchObject({ code: "project_busy" });
    allTurns();
    await Promise.all(waiting);
  });

  it("end after a few late refusals, too", async () => {
    void compute(loud, "first", turnMs);
    const late = Array.from({ length: 100 }, async () => {
      await Promise.resolve(compute(loud, "late", 0)).catch(() => done.push("refused"));
    });
    clock.advance(maxWaitMs);
    turn();
    await Promise.resolve();
    await Promise.resolve();
    expect(done.length).toBeLessThan(12);
    allTurns();
    await Promise.all(late);
    expect(done).toHaveLength(101);
  });
});
