import { setImmediate as settled } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createWorkQueue, type QueueObservation, type WorkQueue } from "../../../../operator/queue/work-queue.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

/** Without jitter. */
const longest = (): number => 1;

function queueAt(time = manualTime(), observe?: (observation: QueueObservation) => void): WorkQueue {
  return createWorkQueue({ ...time, random: longest, ...(observe && { observe }) });
}

async function takeAndFinish(queue: WorkQueue, count: number): Promise<(string | undefined)[]> {
  const keys: (string | undefined)[] = [];
  for (let taken = 0; taken < count; taken += 1) {
    const key = await queue.take();
    if (key !== undefined) queue.done(key);
    keys.push(key);
  }
  return keys;
}

describe("a key", () => {
  test("that is added many times waits once", async () => {
    const queue = queueAt();
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    expect(await takeAndFinish(queue, 2)).toEqual(["a", "b"]);
    expect(queue.figures().live).toBe(0);
  });

  test("that is added while it is worked on waits once more after it is done, and not before", async () => {
    const queue = queueAt();
    queue.add("a");
    await queue.take();
    queue.add("a");
    queue.add("a", "bulk");
    expect(queue.figures()).toMatchObject({ live: 0, bulk: 0 });
    queue.done("a");
    expect(queue.figures()).toMatchObject({ live: 1, bulk: 0 });
    await takeAndFinish(queue, 1);
    expect(queue.figures()).toMatchObject({ live: 0, bulk: 0 });
  });

  test("goes to a taker that waits already", async () => {
    const queue = queueAt();
    const first = queue.take();
    const second = queue.take();
    queue.add("one/a");
    queue.add("other/b");
    expect(await Promise.all([first, second])).toEqual(["one/a", "other/b"]);
  });
});

describe("lanes", () => {
  test("live keys overtake bulk ones", async () => {
    const queue = queueAt();
    queue.add("old", "bulk");
    queue.add("new");
    expect(await takeAndFinish(queue, 2)).toEqual(["new", "old"]);
  });

  test("a live add takes a waiting bulk key along, and it runs once", async () => {
    const queue = queueAt();
    for (const key of ["a", "b", "c"]) queue.add(key, "bulk");
    queue.add("c");
    expect(queue.figures()).toMatchObject({ live: 1, bulk: 2 });
    expect(await takeAndFinish(queue, 3)).toEqual(["c", "a", "b"]);
    expect(queue.figures()).toMatchObject({ live: 0, bulk: 0 });
  });

  test("a bulk add does not put a live key back", async () => {
    const queue = queueAt();
    queue.add("a");
    queue.add("a", "bulk");
    expect(queue.figures()).toMatchObject({ live: 1, bulk: 0 });
  });

  test.each(["live", "bulk"] as const)(
    "namespaces take turns in the %s lane, first come first served in each",
    async (lane) => {
      const queue = queueAt();
      for (const key of ["large/a", "large/b", "large/c", "small/a", "other/a", "small/b"]) queue.add(key, lane);
      const order = ["large/a", "small/a", "other/a", "large/b", "small/b", "large/c"];
      expect(await takeAndFinish(queue, 6)).toEqual(order);
      expect(queue.figures()).toMatchObject({ live: 0, bulk: 0 });
    },
  );

  test("a namespace that keeps adding keys delays another one by one key each time", async () => {
    const queue = queueAt();
    const taken: (string | undefined)[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (let number = 0; number < 50; number += 1) queue.add(`busy/p${round}-${number}`);
      queue.add(`quiet/p${round}`);
      taken.push(...(await takeAndFinish(queue, 2)));
    }
    expect(taken.filter((key) => key?.startsWith("quiet/"))).toEqual(["quiet/p0", "quiet/p1", "quiet/p2", "quiet/p3"]);
  });

  test("a namespace is served by fewer takers than it leaves to others, and gets the next one once one is free again", async () => {
    const queue = queueAt();
    const taken: (string | undefined)[] = [];
    const take = (): void => void queue.take().then((key) => void taken.push(key));
    for (let taker = 0; taker < 8; taker += 1) take();
    for (const lane of ["live", "bulk"] as const) {
      for (let number = 0; number < 10; number += 1) queue.add(`busy/${lane}-${number}`, lane);
    }
    await settled();
    expect(taken).toEqual(["busy/live-0", "busy/live-1", "busy/live-2", "busy/live-3"]);
    // Another one that is as busy leaves takers, too.
    for (let number = 0; number < 10; number += 1) queue.add(`other/p${number}`);
    queue.add("quiet/p");
    await settled();
    expect(taken.slice(4)).toEqual(["other/p0", "other/p1", "quiet/p"]);
    queue.done("other/p0");
    take();
    await settled();
    expect(taken.slice(7)).toEqual(["other/p2"]);
  });

  test("every eighth key is a bulk one while live ones never end", async () => {
    const queue = queueAt();
    queue.add("old", "bulk");
    queue.add("older", "bulk");
    for (let number = 0; number < 30; number += 1) queue.add(`live-${number}`);
    const keys = await takeAndFinish(queue, 16);
    expect([keys.indexOf("old"), keys.indexOf("older")]).toEqual([7, 15]);
  });

  test("a hundred thousand keys are handed out in linear time", async () => {
    const queue = queueAt();
    for (let number = 0; number < 100_000; number += 1) queue.add(`${number}`, "bulk");
    const keys = await takeAndFinish(queue, 100_000);
    expect(keys.at(-1)).toBe("99999");
  });
});

describe("keys that are due later", () => {
  test("come at their moment, the earliest of several", async () => {
    const time = manualTime();
    const queue = queueAt(time);
    queue.addAfter("a", 5_000);
    queue.addAfter("a", 1_000);
    queue.addAfter("a", 9_000);
    queue.addAfter("b", 2_000, "bulk");
    await time.advance(999);
    expect(queue.figures()).toMatchObject({ live: 0, delayed: 2 });
    await time.advance(1);
    expect(queue.figures()).toMatchObject({ live: 1, delayed: 1 });
    await time.advance(20_000);
    expect(queue.figures()).toMatchObject({ live: 1, bulk: 1, delayed: 0 });
  });

  test("come in the order of their moments, and none is lost", async () => {
    const time = manualTime();
    const queue = queueAt(time);
    for (let number = 0; number < 500; number += 1)
      queue.addAfter(`${(number * 7919) % 500}`, 1 + ((number * 7919) % 500));
    const keys: (string | undefined)[] = [];
    for (let moment = 0; moment < 500; moment += 1) {
      await time.advance(1);
      keys.push(...(await takeAndFinish(queue, queue.figures().live)));
    }
    expect(keys).toEqual(Array.from({ length: 500 }, (_, number) => `${number}`));
  });

  test("of the past come at once", () => {
    const queue = queueAt();
    queue.addAfter("a", -5);
    expect(queue.figures()).toMatchObject({ live: 1, delayed: 0 });
  });

  test("keep their moment and their memory small when earlier ones replace far ones again and again", async () => {
    const time = manualTime();
    const queue = queueAt(time);
    for (let round = 0; round < 5_000; round += 1) {
      queue.addAfter("a", 365 * 24 * 3_600_000);
      queue.addAfter("a", 10);
      await takeAfter(queue, () => time.advance(10));
    }
    queue.addAfter("a", 1_000);
    await time.advance(1_000);
    expect(queue.figures()).toMatchObject({ live: 1, delayed: 0 });
  });

  async function takeAfter(queue: WorkQueue, move: () => Promise<void>): Promise<void> {
    await move();
    await takeAndFinish(queue, 1);
  }
});

describe("retries", () => {
  async function backoffsOf(random: () => number, count: number): Promise<number[]> {
    const time = manualTime();
    const queue = createWorkQueue({ ...time, random });
    const waits: number[] = [];
    queue.add("a");
    for (let round = 0; round < count; round += 1) {
      await queue.take();
      queue.retry("a");
      queue.done("a");
      const start = time.monotonic();
      while (queue.figures().live + queue.figures().bulk === 0) await time.advance(10);
      waits.push(time.monotonic() - start);
    }
    return waits;
  }

  test("come after 0.1 s, and twice as late each time until a minute", async () => {
    expect(await backoffsOf(longest, 12)).toEqual([
      100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000,
    ]);
  });

  test("come up to a fifth earlier at random", async () => {
    expect(await backoffsOf(() => 0, 2)).toEqual([80, 160]);
  });

  test("begin anew when the key is forgotten", async () => {
    const time = manualTime();
    const queue = queueAt(time);
    for (let round = 0; round < 5; round += 1) queue.retry("a");
    queue.forget("a");
    queue.retry("a");
    await time.advance(100);
    expect(queue.figures().bulk).toBe(1);
  });

  test("of live keys are due at once when what refused them has healed, those of bulk keys and what is planned are not", async () => {
    const time = manualTime();
    const queue = queueAt(time);
    queue.add("changed");
    queue.add("merely looked at", "bulk");
    for (let round = 0; round < 12; round += 1) {
      for (const key of ["changed", "merely looked at"]) {
        await queue.take();
        queue.retry(key);
        queue.done(key);
      }
      if (round < 11) await time.advance(60_000);
    }
    queue.addAfter("planned", 3_600_000);
    queue.retryNow();
    await time.advance(0);
    expect(queue.figures()).toMatchObject({ live: 1, bulk: 0, delayed: 2 });
    expect(await queue.take()).toBe("changed");
    queue.retryNow();
    await time.advance(0);
    expect(queue.figures()).toMatchObject({ live: 0, bulk: 0, delayed: 2 });
  });

  test("stay in the lane that the key was taken from", async () => {
    const time = manualTime();
    const queue = queueAt(time);
    queue.add("a");
    await queue.take();
    queue.retry("a");
    queue.done("a");
    await time.advance(100);
    expect(queue.figures()).toMatchObject({ live: 1, bulk: 0 });
  });

  test("of many keys at once are ten a second after the first hundred, and none waits for more than about a minute", async () => {
    const time = manualTime();
    const queue = queueAt(time);
    for (let number = 0; number < 5_000; number += 1) queue.retry(`${number}`);
    await time.advance(100);
    expect(queue.figures().bulk).toBe(101);
    await time.advance(1_000);
    expect(queue.figures().bulk).toBe(111);
    await time.advance(59_000);
    expect(queue.figures()).toMatchObject({ bulk: 5_000, delayed: 0 });
  });

  test("don't wait for an add that comes before", async () => {
    const queue = queueAt();
    queue.retry("a");
    queue.add("a");
    expect(await takeAndFinish(queue, 1)).toEqual(["a"]);
  });
});

describe("a stopped queue", () => {
  test("hands out nothing, takes nothing, and ends when the last key is done", async () => {
    const time = manualTime();
    const queue = queueAt(time);
    queue.add("a");
    queue.add("b");
    queue.addAfter("c", 10);
    await queue.take();
    let ended = false;
    const stopped = queue.stop().then(() => {
      ended = true;
    });
    expect(await queue.take()).toBeUndefined();
    for (const again of [() => queue.add("d"), () => queue.retry("a"), () => queue.addAfter("d", 1)]) again();
    await time.advance(100);
    expect([ended, time.waiting()]).toEqual([false, 0]);
    queue.done("a");
    await stopped;
    expect(queue.figures()).toEqual({ live: 0, bulk: 0, delayed: 0, workingSeconds: [] });
  });

  test("lets takers go that wait for a key", async () => {
    const queue = queueAt();
    const waiting = queue.take();
    await queue.stop();
    expect(await waiting).toBeUndefined();
  });
});

test("the queue tells when a key is added, how long it waited and how long it was worked on", async () => {
  const time = manualTime();
  const reported: QueueObservation[] = [];
  const queue = queueAt(time, (observation) => reported.push(observation));
  queue.add("a");
  queue.add("a");
  await time.advance(2_000);
  await queue.take();
  await time.advance(3_000);
  expect(queue.figures().workingSeconds).toEqual([3]);
  queue.retry("a");
  queue.done("a");
  expect(reported).toEqual([
    { kind: "added", stage: "serve" },
    { kind: "taken", stage: "serve", waitedSeconds: 2 },
    { kind: "retried", stage: "serve" },
    { kind: "done", stage: "serve", workedSeconds: 3 },
  ]);
});
