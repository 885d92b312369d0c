// One stream, to a client that reads nothing: how much of it the replica keeps, and for how long.

import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { Problem } from "../../../../core/errors/problem.ts";
import type { Batch, BatchRead } from "../../../../dataplane/changes/batch.ts";
import { ChangeStream, type StreamDeps, type Subscription } from "../../../../dataplane/changes/change-stream.ts";
import type { ChangeEvent } from "../../../../dataplane/changes/events.ts";
import type { Feed } from "../../../../dataplane/changes/feed.ts";
import { Rendered } from "../../../../dataplane/changes/rendered.ts";
import { type ManualTime, manualTime } from "../../../support/time/manual-time.ts";

const begun = "1-0.00000000";
const changed = "2-0.00000000";
const put: ChangeEvent = { name: "put", position: changed, data: "{}" };
const batch: Batch = {
  outcome: "batch",
  from: begun,
  end: changed,
  changes: [{ position: changed, kind: "put", id: "1", owner: "" }],
  length: 0,
  positions: new Set([changed]),
  seen: changed,
  began: 1,
  ended: 2,
  rendered: new Rendered(0),
};

/** Takes what is written, and reads none of it until `read`. */
class UnreadResponse extends EventEmitter {
  readonly written: string[] = [];
  writableNeedDrain = false;
  destroyed = false;

  write(text: string): boolean {
    this.written.push(text);
    this.writableNeedDrain = true;
    return false;
  }

  cork = (): undefined => undefined;
  uncork = (): undefined => undefined;

  read(): void {
    this.writableNeedDrain = false;
    this.emit("drain");
  }

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

/** Has the batch, and then nothing. */
function subscriptionOf(): Subscription {
  const feed: Pick<Feed, "isBehind" | "next"> = {
    isBehind: () => false,
    next: ({ position }, signal) =>
      position === begun
        ? Promise.resolve(batch)
        : new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
  };
  return {
    feed: feed as Feed,
    view: { eventsOf: () => [put], seenIn: () => changed },
    position: begun,
    seen: begun,
    since: 0,
  };
}

interface Load {
  readonly isRoomShort?: boolean;
  readonly fairly?: StreamDeps["fairly"];
  readonly takeRoom?: StreamDeps["takeRoom"];
}

function begin(
  subscriptions: readonly Subscription[],
  time: ManualTime,
  { isRoomShort = false, fairly = (work) => work(), takeRoom = async () => () => undefined }: Load = {},
): [ChangeStream, UnreadResponse] {
  const response = new UnreadResponse();
  const { clock, timers } = time;
  const deps = {
    inSlot: (read: () => Promise<BatchRead>) => read(),
    takeRoom,
    isRoomShort: () => isRoomShort,
    clock,
    timers,
    random: () => 0,
    onFailure: () => undefined,
    fairly,
  };
  const stream = new ChangeStream(deps, { subscriptions, events: [] }, response as unknown as ServerResponse);
  return [stream, response];
}

const putsIn = ({ written }: UnreadResponse): number => written.filter((text) => text.startsWith("event: put")).length;

it("reads what it is behind, and values, only when there is room for the largest", async () => {
  const time = manualTime();
  const log: string[] = [];
  const takeRoom = async (bytes: number): Promise<() => void> => {
    log.push(`room ${bytes}`);
    return () => undefined;
  };
  const read = async (): Promise<Batch> => {
    log.push("batch");
    return batch;
  };
  const behind = subscriptionOf();
  const feed = { ...behind.feed, isBehind: ({ position }: Subscription) => position === begun, read };
  const [, late] = begin([{ ...behind, feed: feed as unknown as Feed }], time, { takeRoom });
  late.read();
  await time.advance(0);
  expect(log.splice(0)).toEqual(["room 1048576", "batch"]);
  const value = subscriptionOf();
  const eventsOf = (): readonly ChangeEvent[] => {
    log.push("value");
    return [put];
  };
  const [, response] = begin([{ ...value, view: { ...value.view, reads: true, eventsOf } }], time, { takeRoom });
  response.read();
  await time.advance(0);
  expect(log).toEqual(["room 1048576", "value"]);
});

it("closes a connection whose client reads nothing of what it is sent first", async () => {
  const time = manualTime();
  const [stream, response] = begin([], time);
  for (let seconds = 0; seconds < 62; seconds += 1) {
    expect(response.destroyed).toBe(false);
    stream.tick(Number.POSITIVE_INFINITY);
    await time.advance(1_000);
  }
  expect(response.destroyed).toBe(true);
  expect(response.written).toHaveLength(2);
});

it("closes it soon while others wait for room", async () => {
  const time = manualTime();
  const [stream, response] = begin([], time, { isRoomShort: true });
  for (let seconds = 0; seconds < 4; seconds += 1) {
    stream.tick(Number.POSITIVE_INFINITY);
    await time.advance(1_000);
  }
  expect(response.destroyed).toBe(true);
});

it("keeps a client that reads now and then", async () => {
  const time = manualTime();
  const [stream, response] = begin([], time);
  for (let seconds = 0; seconds < 180; seconds += 1) {
    stream.tick(Number.POSITIVE_INFINITY);
    if (seconds % 40 === 0) response.read();
    await time.advance(1_000);
  }
  expect(response.destroyed).toBe(false);
  response.destroy();
});

it("writes a batch of one source at a time while nothing is read", async () => {
  const time = manualTime();
  const [, response] = begin([subscriptionOf(), subscriptionOf(), subscriptionOf()], time);
  await time.advance(1);
  const counts = [putsIn(response)];
  for (let reads = 0; reads < 3; reads += 1) {
    response.read();
    await time.advance(1);
    counts.push(putsIn(response));
  }
  expect(counts).toEqual([0, 1, 2, 3]);
  expect(response.listenerCount("drain")).toBe(1);
  response.destroy();
});

it("sends a batch later that the project is too busy for", async () => {
  const time = manualTime();
  let refusals = 1;
  const fairly: StreamDeps["fairly"] = (work) => {
    refusals -= 1;
    return refusals < 0 ? work() : Promise.reject(new Problem("project_busy", ""));
  };
  const [, response] = begin([subscriptionOf()], time, { fairly });
  response.read();
  await time.advance(1_000);
  expect(putsIn(response)).toBe(1);
  response.destroy();
});
