// Keys are served first and reported after: one at a time while others are to be served, and never
// what a newer run makes untrue.

import { array, asyncProperty, assert as check, integer, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { pause } from "../../../../core/timers.ts";
import type { Lane } from "../../../../operator/queue/lanes.ts";
import { createWorkQueue, type QueueObservation, type WorkQueue } from "../../../../operator/queue/work-queue.ts";
import { runWorkers } from "../../../../operator/queue/workers.ts";
import { type ManualTime, manualTime, settled } from "../../../support/time/manual-time.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

function queueAt(time: ManualTime = manualTime(), observe?: (observation: QueueObservation) => void): WorkQueue {
  return createWorkQueue({ ...time, random: () => 1, ...(observe && { observe }) });
}

/** They wait to be reported. */
async function served(queue: WorkQueue, keys: readonly string[], lane?: Lane): Promise<void> {
  for (const key of keys) queue.add(key, lane);
  for (const _ of keys) {
    const key = (await queue.take()) ?? "";
    queue.report(key);
    queue.done(key);
  }
}

/** Keys that are reported as soon as they may be, in order. */
function reported(queue: WorkQueue, takers: number): string[] {
  const taken: string[] = [];
  for (let taker = 0; taker < takers; taker += 1) void queue.take("report").then((key) => key && taken.push(key));
  return taken;
}

describe("a key that was served", () => {
  test("waits to be reported, and is not served for that", async () => {
    const queue = queueAt();
    await served(queue, ["a"]);
    expect([queue.figures("serve"), queue.figures("report")]).toMatchObject([{ live: 0 }, { live: 1 }]);
    expect(queue.figures()).toMatchObject({ live: 1 });
    const serving = queue.take();
    expect(await queue.take("report")).toBe("a");
    queue.done("a");
    await queue.stop();
    expect(await serving).toBeUndefined();
  });

  test("is served anew instead of being reported, once it is added, in the better of both lanes", async () => {
    const queue = queueAt();
    await served(queue, ["a"]);
    queue.add("other/b", "bulk");
    queue.add("a", "bulk");
    expect(queue.figures("report")).toMatchObject({ live: 0, bulk: 0 });
    expect([await queue.take(), await queue.take()]).toEqual(["a", "other/b"]);
  });

  test("that is added while it is reported is served when that is done, and not before", async () => {
    const queue = queueAt();
    await served(queue, ["a"]);
    await queue.take("report");
    queue.add("a");
    let taken: string | undefined;
    void queue.take().then((key) => {
      taken = key;
    });
    await settled();
    expect(taken).toBeUndefined();
    queue.done("a");
    await settled();
    expect(taken).toBe("a");
  });

  test("that was added while it was served is served once more, and not reported before", async () => {
    const queue = queueAt();
    queue.add("a");
    await queue.take();
    queue.add("a");
    queue.report("a");
    queue.done("a");
    const taken = reported(queue, 1);
    await settled();
    expect(taken).toEqual([]);
    expect(await queue.take()).toBe("a");
  });

  test("is said to be changed once somebody changed it, so that its statuses can wait; not where it is only looked at", async () => {
    const queue = queueAt();
    await served(queue, ["a"]);
    const asked = [queue.isChanged("a")];
    await queue.take("report");
    asked.push(queue.isChanged("a"));
    queue.add("a", "bulk");
    asked.push(queue.isChanged("a"));
    queue.add("a");
    asked.push(queue.isChanged("a"));
    queue.done("a");
    await queue.take();
    expect([...asked, queue.isChanged("a")]).toEqual([false, false, false, true, false]);
  });

  test("and was looked at meanwhile stays in the lane that it was served from", async () => {
    const queue = queueAt();
    queue.add("a");
    await queue.take();
    queue.add("a", "bulk");
    queue.report("a");
    queue.done("a");
    expect(queue.figures("serve")).toMatchObject({ live: 1, bulk: 0 });
  });

  test("is reported in the lane that it was served from: who changes one object does not wait for all that are only looked at", async () => {
    const queue = queueAt();
    await served(queue, ["old"], "bulk");
    await served(queue, ["new"]);
    const taken = reported(queue, 2);
    await settled();
    expect(taken).toEqual(["new", "old"]);
  });
});

describe("while keys are to be served", () => {
  test("one is reported at a time", async () => {
    const queue = queueAt();
    await served(queue, ["a", "b", "c"]);
    queue.add("waiting");
    const taken = reported(queue, 3);
    await settled();
    expect(taken).toEqual(["a"]);
    queue.done("a");
    await settled();
    expect(taken).toEqual(["a", "b"]);
  });

  test("being served counts, and all are reported at once when that is over", async () => {
    const queue = queueAt();
    await served(queue, ["a", "b", "c"]);
    queue.add("last");
    await queue.take();
    const taken = reported(queue, 3);
    await settled();
    expect(taken).toEqual(["a"]);
    queue.done("last");
    await settled();
    expect(taken).toEqual(["a", "b", "c"]);
  });

  test("one that takes long keeps no other one waiting", async () => {
    const time = manualTime();
    const queue = queueAt(time);
    await served(queue, ["large", "b", "c"]);
    queue.add("waiting");
    const taken = reported(queue, 3);
    await time.advance(2_000);
    queue.add("more");
    await settled();
    expect(taken).toEqual(["large", "b"]);
  });

  test("what is due later does not count", async () => {
    const queue = queueAt();
    await served(queue, ["a", "b"]);
    queue.addAfter("later", 60_000);
    const taken = reported(queue, 2);
    await settled();
    expect(taken).toEqual(["a", "b"]);
  });
});

test("a queue that stops drops keys that wait to be reported, and waits for those that are", async () => {
  const queue = queueAt();
  await served(queue, ["a", "b"]);
  queue.add("waiting");
  await queue.take("report");
  const late = queue.take("report");
  let ended = false;
  const stopped = queue.stop().then(() => {
    ended = true;
  });
  await settled();
  expect([await late, ended]).toEqual([undefined, false]);
  queue.done("a");
  await stopped;
  expect(queue.figures()).toEqual({ live: 0, bulk: 0, delayed: 0, workingSeconds: [] });
});

test("what is observed says whether it was about serving or reporting", async () => {
  const time = manualTime();
  const reported: QueueObservation[] = [];
  const queue = queueAt(time, (observation) => reported.push(observation));
  await served(queue, ["a"]);
  await time.advance(2_000);
  await queue.take("report");
  await time.advance(3_000);
  queue.retry("a");
  queue.done("a");
  expect(reported.filter(({ stage }) => stage === "report")).toEqual([
    { kind: "added", stage: "report" },
    { kind: "taken", stage: "report", waitedSeconds: 2 },
    { kind: "retried", stage: "report" },
    { kind: "done", stage: "report", workedSeconds: 3 },
  ]);
});

const never = new AbortController().signal;

test("a key whose statuses can't be written is served anew after a backoff that grows, however often serving succeeds", async () => {
  const time = manualTime();
  const queue = queueAt(time);
  const servedAt: number[] = [];
  const common = { queue, workers: 1, signal: never, ...time };
  void runWorkers({
    ...common,
    async handle() {
      servedAt.push(time.monotonic());
      return { requeue: "report" };
    },
  });
  void runWorkers({ ...common, stage: "report", handle: () => Promise.reject(new Error("no")) });
  queue.add("a");
  for (let step = 0; step < 8; step += 1) await time.advance(100);
  expect(servedAt.map((at) => at - (servedAt[0] ?? 0))).toEqual([0, 100, 300, 700]);
});

interface Reported {
  readonly key: string;
  /** Of the change that was served when this was found. */
  readonly version: number;
}

interface Times {
  readonly serveMs: number;
  readonly reportMs: number;
}

/** Workers that serve and report, as long as each of its times says. */
function world(times: (key: string) => Times) {
  const time = manualTime();
  const queue = queueAt(time);
  const version = new Map<string, number>();
  const unreported = new Map<string, number>();
  const worked = new Set<string>();
  const servedKeys = new Set<string>();
  const reports: Reported[] = [];
  const alone = async (key: string, milliseconds: number): Promise<void> => {
    expect(worked.has(key), `${key} is worked on twice at a time`).toBe(false);
    worked.add(key);
    await pause(time.timers, milliseconds, never);
    worked.delete(key);
  };
  const common = { queue, workers: 4, signal: never, ...time };
  void runWorkers({
    ...common,
    async handle(key) {
      const found = version.get(key) ?? 0;
      await alone(key, times(key).serveMs);
      unreported.set(key, found);
      servedKeys.add(key);
      return { requeue: "report" };
    },
  });
  void runWorkers({
    ...common,
    stage: "report",
    async handle(key) {
      const found = unreported.get(key) ?? Number.NaN;
      await alone(key, times(key).reportMs);
      reports.push({ key, version: found });
      return undefined;
    },
  });
  const change = (key: string): void => {
    version.set(key, (version.get(key) ?? 0) + 1);
    queue.add(key);
  };
  return { time, change, version, servedKeys, reports };
}

const someTimes = record({ serveMs: integer({ min: 1, max: 20 }), reportMs: integer({ min: 20, max: 400 }) });

describe("many keys at once", () => {
  test("are all served before most of them are reported", async () => {
    await check(
      asyncProperty(array(someTimes, { minLength: 20, maxLength: 40 }), async (all) => {
        const { time, change, servedKeys, reports } = world((key) => all[Number(key)] ?? { serveMs: 1, reportMs: 20 });
        for (const key of all.keys()) change(`${key}`);
        while (servedKeys.size < all.length) await time.advance(1);
        expect(reports.length).toBeLessThan(all.length / 2);
        await time.advance(all.length * 400);
        expect(new Set(reports.map(({ key }) => key)).size).toBe(all.length);
      }),
      { numRuns: countForTier(20) },
    );
  });

  test("are reported with their newest change last, whatever changes meanwhile, and never of an older one after it", async () => {
    const changes = array(record({ key: integer({ min: 0, max: 4 }), afterMs: integer({ min: 0, max: 300 }) }), {
      minLength: 1,
      maxLength: 30,
    });
    await check(
      asyncProperty(changes, array(someTimes, { minLength: 5, maxLength: 5 }), async (sequence, all) => {
        const { time, change, version, reports } = world((key) => all[Number(key)] ?? { serveMs: 1, reportMs: 20 });
        for (const { key, afterMs } of sequence) {
          change(`${key}`);
          await time.advance(afterMs);
        }
        await time.advance(10_000);
        for (const [key, newest] of version) {
          const versions = reports.filter((each) => each.key === key).map((each) => each.version);
          expect(versions).toEqual(versions.toSorted((a, b) => a - b));
          expect(versions.at(-1)).toBe(newest);
        }
      }),
      { numRuns: countForTier(60) },
    );
  });
});
