import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { pause } from "../../../../core/timers.ts";
import { createWorkQueue } from "../../../../operator/queue/work-queue.ts";
import { runWorkers, type WorkObservation, type WorkResult } from "../../../../operator/queue/workers.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

interface Trial {
  readonly handle: (key: string, signal: AbortSignal) => Promise<WorkResult>;
  readonly workers?: number;
  readonly signal?: AbortSignal;
}

function start({ handle, workers = 2, signal = new AbortController().signal }: Trial) {
  const time = manualTime();
  const queue = createWorkQueue({ ...time, random: () => 1 });
  const reported: WorkObservation[] = [];
  const ended = runWorkers({
    ...time,
    queue,
    workers,
    handle,
    observe: (observation) => reported.push(observation),
    signal,
  });
  const results = () => reported.filter((each) => each.kind === "ended").map(({ result }) => result);
  return { time, queue, reported, ended, results };
}

/** A handler that goes on until its signal aborts. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

describe("workers", () => {
  test("take each key once and finish it", async () => {
    const handled: string[] = [];
    const { time, queue, ended, results } = start({
      handle: async (key) => {
        handled.push(key);
        return undefined;
      },
    });
    for (const key of ["a", "b", "c"]) queue.add(key);
    await time.advance(0);
    expect(handled).toEqual(["a", "b", "c"]);
    expect(results()).toEqual(["success", "success", "success"]);
    await queue.stop();
    await ended;
  });

  test("work on as many keys at once as there are workers", async () => {
    const { time, queue } = start({ workers: 3, handle: (_, signal) => untilAborted(signal) });
    for (const key of ["one/a", "two/b", "three/c", "four/d"]) queue.add(key);
    await time.advance(0);
    expect(queue.figures()).toMatchObject({ live: 1, workingSeconds: [0, 0, 0] });
  });

  test("try a key again after its backoff when its handler throws, and go on with others", async () => {
    let attempts = 0;
    const { time, queue, reported, results } = start({
      workers: 1,
      handle: async (key) => {
        if (key !== "bad") return undefined;
        attempts += 1;
        if (attempts < 3) throw new Error("not now");
        return undefined;
      },
    });
    queue.add("bad");
    queue.add("good");
    await time.advance(99);
    expect(results()).toEqual(["error", "success"]);
    expect(reported).toContainEqual(expect.objectContaining({ key: "bad", error: new Error("not now") }));
    await time.advance(1 + 200);
    expect(results()).toEqual(["error", "success", "error", "success"]);
  });

  test("survive a handler that throws before its first promise", async () => {
    const { time, queue, results } = start({
      handle: () => {
        throw new Error("at once");
      },
    });
    queue.add("a");
    await time.advance(0);
    expect(results()).toEqual(["error"]);
  });

  test("come back when the handler asks for it, and backoff begins anew", async () => {
    const starts: number[] = [];
    const { time, queue, results } = start({
      handle: async () => {
        starts.push(time.monotonic());
        if (starts.length === 1) throw new Error("not now");
        return { requeueAfterMs: 5_000 };
      },
    });
    queue.add("a");
    await time.advance(5_100);
    expect(starts).toEqual([0, 100, 5_100]);
    expect(results()).toEqual(["error", "requeue_after", "requeue_after"]);
  });

  test("come back ever more slowly where the handler says that it may take long, which is no failure", async () => {
    const starts: number[] = [];
    const { time, queue, results } = start({
      handle: async () => {
        starts.push(time.monotonic());
        return starts.length < 4 ? { requeue: "backoff" } : undefined;
      },
    });
    queue.add("a");
    await time.advance(600_000);
    expect(starts).toEqual([0, 100, 300, 700]);
    expect(results()).toEqual(["requeue_after", "requeue_after", "requeue_after", "success"]);
  });

  test("report a handler that outlives its time, once, and let it finish: what it has published its statuses have to say", async () => {
    const { time, queue, reported } = start({
      handle: async (_, signal) => {
        await pause(time.timers, 90_000);
        signal.throwIfAborted();
        return undefined;
      },
    });
    queue.add("a");
    await time.advance(29_999);
    expect(reported).toEqual([{ kind: "started" }]);
    await time.advance(60_001);
    expect(reported.slice(1)).toEqual([
      { kind: "overdue", key: "a" },
      { kind: "ended", key: "a", result: "success", seconds: 90 },
    ]);
  });

  test("don't give a key to anyone else while its handler takes long", async () => {
    const hanging = Promise.withResolvers<WorkResult>();
    let starts = 0;
    const { time, queue } = start({
      handle: () => {
        starts += 1;
        return hanging.promise;
      },
    });
    queue.add("a");
    await time.advance(31_000);
    queue.add("a");
    await time.advance(1_000);
    expect(starts).toBe(1);
    hanging.resolve(undefined);
    await time.advance(0);
    expect(starts).toBe(2);
  });

  test("leave no timer and no listener behind", async () => {
    const { signal } = new AbortController();
    const { time, queue } = start({ signal, handle: async () => undefined });
    queue.add("a");
    await time.advance(0);
    expect([time.waiting(), getEventListeners(signal, "abort")]).toEqual([0, []]);
  });

  test("tell a handler that begins after all work was called off", async () => {
    const { time, queue, results } = start({
      signal: AbortSignal.abort(new Error("lost")),
      handle: async (_, signal) => {
        signal.throwIfAborted();
        return undefined;
      },
    });
    queue.add("a");
    await time.advance(0);
    expect(results()).toEqual(["abandoned"]);
  });

  test("are called off at once by the signal, and what fails by it counts as abandoned", async () => {
    const leadership = new AbortController();
    const { time, queue, ended, results } = start({
      signal: leadership.signal,
      handle: (_, signal) => untilAborted(signal),
    });
    for (const key of ["one/a", "two/b", "three/c"]) queue.add(key);
    await time.advance(0);
    const stopped = queue.stop();
    leadership.abort(new Error("lost"));
    await stopped;
    await ended;
    expect(results()).toEqual(["abandoned", "abandoned"]);
  });
});
