// What those who follow one log are sent by their replica's feed, at any moment that they ask.

import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import { systemTimers } from "../../../../core/timers.ts";
import { type Batch, type BatchRead, lacksSeen } from "../../../../dataplane/changes/batch.ts";
import { Feed, type FeedDeps } from "../../../../dataplane/changes/feed.ts";
import { Rendered } from "../../../../dataplane/changes/rendered.ts";
import { type ReadValue, valueView } from "../../../../dataplane/changes/views.ts";
import type { ChangesRead } from "../../../../dataplane/store/ports/changes.ts";

const project = { namespace: "default", name: "shop", uid: "u" };
const begun = "1-0.00000000";
const position = "2-0.00000000";
const removal: ChangesRead = { outcome: "changes", changes: [{ position, kind: "delete", id: "a", owner: "" }] };

/** Nothing behind the first position until `answer` is called, which answers the read under way. */
function openFeed(): { readonly feed: Feed; readonly answer: () => void } {
  const first = Promise.withResolvers<ChangesRead>();
  const store: FeedDeps["store"] = {
    changesAfter: async (_of, after) => (after === begun ? await first.promise : { outcome: "changes", changes: [] }),
    readObjects: () => Readable.from([]),
    newestChange: async () => position,
    onChanges: () => () => undefined,
  };
  const deps = { store, clock: systemClock, timers: systemTimers, onFailure: () => undefined };
  return { feed: new Feed(deps, { project, resource: "books" }, begun), answer: () => first.resolve(removal) };
}

it("sends a change whenever it is asked while that change arrives", async () => {
  const sent: (BatchRead | undefined)[] = [];
  const steps = Array.from({ length: 60 }, (_, at) => at);
  for (const step of steps) {
    const { feed, answer } = openFeed();
    const leaving = new AbortController();
    answer();
    for (let count = 0; count < step; count += 1) await undefined;
    const next = feed.next({ position: begun, seen: begun, since: 0 }, leaving.signal);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    leaving.abort();
    sent.push(await next);
    feed.close();
  }
  expect(sent.map((read) => read?.outcome)).toEqual(steps.map(() => "batch"));
});

it("sends nothing that was read before what was sent last", async () => {
  const id = "01a22958-d4fe-7000-bf64-f5fc39ef4184";
  const asked: { readonly after: string; readonly resolve: (read: ChangesRead) => void }[] = [];
  const texts: ((version: number) => void)[] = [];
  const store: FeedDeps["store"] = {
    changesAfter: (_of, after) => new Promise((resolve) => asked.push({ after, resolve })),
    async *readObjects() {
      const version = await new Promise<number>((resolve) => texts.push(resolve));
      yield [JSON.stringify({ id, version })];
    },
    newestChange: async () => position,
    onChanges: () => () => undefined,
  };
  const answer = async (after: string, ...positions: readonly string[]): Promise<void> => {
    const changes = positions.map((each) => ({ position: each, kind: "put", id, owner: "" }) as const);
    asked.find((each) => each.after === after)?.resolve({ outcome: "changes", changes });
    await nextTurn();
  };
  const [older, first, second] = ["0-1.00000000", "2-0.00000000", "3-0.00000000"] as const;
  const leaving = new AbortController();
  const feed = new Feed(
    { store, clock: systemClock, timers: systemTimers, onFailure: () => undefined },
    { project, resource: "books" },
    begun,
  );
  const behind = feed.next({ position: older, seen: older, since: 0 }, leaving.signal);
  await answer(older, first);
  await answer(begun, first, second);
  const [own, ofFeed] = texts;
  ofFeed?.(3);
  await nextTurn();
  own?.(4);
  const sent = (await behind) as Batch;
  expect(sent.changes).toMatchObject([{ position: first, text: JSON.stringify({ id, version: 4 }) }]);
  const next = feed.next({ position: sent.end, seen: sent.seen, since: sent.ended }, leaving.signal);
  await answer(sent.end, second);
  texts.at(-1)?.(4);
  expect(await next).toMatchObject({ changes: [{ position: second, text: JSON.stringify({ id, version: 4 }) }] });
  leaving.abort();
  feed.close();
});

it("is lost where a failover lost the entry that a text came from, though it has that of the change", async () => {
  const id = "01a22958-d4fe-7000-bf64-f5fc39ef4184";
  const lost = "3-0.00000000";
  const put = { outcome: "changes", changes: [{ position, kind: "put", id, owner: "" }] } as const;
  const store: FeedDeps["store"] = {
    changesAfter: async (_of, after) => (after === begun ? put : { outcome: "changes", changes: [] }),
    readObjects: () => Readable.from([[JSON.stringify({ id, version: 3 })]]),
    newestChange: async () => lost,
    onChanges: () => () => undefined,
  };
  const feed = new Feed(
    { store, clock: systemClock, timers: systemTimers, onFailure: () => undefined },
    { project, resource: "books" },
    begun,
  );
  const { signal } = new AbortController();
  const sent = (await feed.next({ position: begun, seen: begun, since: 0 }, signal)) as Batch;
  expect(sent).toMatchObject({ end: position, seen: lost });
  const later = { ...sent, from: position, end: "4-0.00000000", positions: new Set(["4-0.00000000"]) };
  expect(lacksSeen(later, { position, seen: lost })).toBe(true);
  expect(lacksSeen({ ...later, positions: new Set([lost, later.end]) }, { position, seen: lost })).toBe(false);
  expect(await feed.next({ position, seen: lost, since: sent.ended }, signal)).toEqual({ outcome: "lost" });
  feed.close();
});

it("keeps nothing of those who left while nothing changed", async () => {
  const { feed } = openFeed();
  const leaving = Array.from({ length: 5 }, () => new AbortController());
  const sent = leaving.map(({ signal }) => feed.next({ position: begun, seen: begun, since: 0 }, signal));
  await nextTurn();
  expect(feed.waiting).toBe(5);
  for (const each of leaving) each.abort();
  expect(await Promise.all(sent)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  expect(feed.waiting).toBe(0);
  feed.close();
});

/** The log has one further change each time it is read, until there are so many. */
function growingFeed(count: number): Feed {
  let read = 0;
  const store: FeedDeps["store"] = {
    async changesAfter() {
      read += 1;
      if (read > count) return { outcome: "changes", changes: [] };
      return { outcome: "changes", changes: [{ position: entry(read), kind: "delete", id: "a", owner: "" }] };
    },
    readObjects: () => Readable.from([]),
    newestChange: async () => entry(read),
    onChanges: () => () => undefined,
  };
  return new Feed(
    { store, clock: systemClock, timers: systemTimers, onFailure: () => undefined },
    { project, resource: "books" },
    begun,
  );
}

const entry = (number: number): string => `${number + 1}-0.00000000`;

it("hands one batch after the other to who waits and takes them, and wakes it for one that it doesn't take", async () => {
  const feed = growingFeed(3);
  const reader = { position: begun, seen: begun, since: 0 };
  const taken: string[] = [];
  const woken = await feed.next(reader, new AbortController().signal, async ({ end, seen, ended }) => {
    if (taken.length === 2) return false;
    taken.push(end);
    Object.assign(reader, { position: end, seen, since: ended });
    return true;
  });
  expect(taken).toEqual([entry(1), entry(2)]);
  expect(woken).toMatchObject({ from: entry(2), end: entry(3) });
  feed.close();
});

it("wakes who waits for a batch without the entry that it has seen", async () => {
  const feed = growingFeed(1);
  const reader = { position: begun, seen: "1-1.00000000", since: 0 };
  const woken = await feed.next(reader, new AbortController().signal, () => true);
  expect(woken).toMatchObject({ from: begun });
  feed.close();
});

const nextRounds = ["in the next one", "though the store fails"];

it.each(nextRounds)("sends late ones in a long round what was read in it, and the others %s", async (then) => {
  let now = 0;
  let written = 1;
  let isAway = false;
  let hint = (): void => undefined;
  const pauses: (() => void)[] = [];
  const store: FeedDeps["store"] = {
    async changesAfter(_of, after) {
      if (isAway) throw new Error("The store is away");
      const [first = ""] = after.split("-");
      const numbers = Array.from({ length: written }, (_, at) => at + 1).filter((number) => number >= Number(first));
      const changes = numbers.map(
        (number) => ({ position: entry(number), kind: "delete", id: "a", owner: "" }) as const,
      );
      return { outcome: "changes", changes };
    },
    readObjects: () => Readable.from([]),
    newestChange: async () => entry(written),
    onChanges(_of, call) {
      hint = call;
      return () => undefined;
    },
  };
  const timers = {
    after(_ms: number, call: () => void) {
      pauses.push(call);
      return () => undefined;
    },
  };
  const clock = { now: () => now, monotonic: () => now };
  const feed = new Feed({ store, clock, timers, onFailure: () => undefined }, { project, resource: "books" }, begun);
  const { signal } = new AbortController();
  const readers = Array.from({ length: 200 }, () => ({ position: begun, seen: begun, since: 0 }));
  for (const reader of readers) {
    void feed.next(reader, signal, ({ end, seen, ended }) => {
      if (reader === readers[0] && written === 1) {
        [written, now] = [2, 15];
        hint();
      }
      Object.assign(reader, { position: end, seen, since: ended });
      return true;
    });
  }
  const positions = async () => {
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    return [readers[0], readers[63], readers[128], readers[199]].map((reader) => reader?.position);
  };
  expect(await positions()).toEqual([entry(1), entry(1), entry(2), entry(2)]);
  isAway = then === "though the store fails";
  pauses.at(-1)?.();
  expect(await positions()).toEqual(Array(4).fill(entry(2)));
  feed.close();
});

it("sends all others a batch that one who waits fails to take, and wakes that one", async () => {
  const feed = growingFeed(2);
  const { signal } = new AbortController();
  const failing = feed.next({ position: begun, seen: begun, since: 0 }, signal, () => {
    throw new Error("Can't be shown");
  });
  const reader = { position: begun, seen: begun, since: 0 };
  const taken: string[] = [];
  void feed.next(reader, signal, ({ end, seen, ended }) => {
    taken.push(end);
    Object.assign(reader, { position: end, seen, since: ended });
    return true;
  });
  expect(await failing).toMatchObject({ from: begun, end: entry(1) });
  await expect.poll(() => taken).toEqual([entry(1), entry(2)]);
  feed.close();
});

it("lets other work run before it has woken all of many", async () => {
  const { feed, answer } = openFeed();
  const { signal } = new AbortController();
  let woken = 0;
  const all = Array.from({ length: 500 }, async () => {
    await feed.next({ position: begun, seen: begun, since: 0 }, signal);
    woken += 1;
  });
  answer();
  const seen = new Set<number>();
  while (woken < all.length) {
    await nextTurn();
    seen.add(woken);
  }
  expect(seen.size).toBeGreaterThan(3);
  feed.close();
});

it("reads a value again for a batch whose first read failed", async () => {
  let reads = 0;
  const read = async (): Promise<ReadValue> => {
    reads += 1;
    if (reads === 1) throw new Error("The store is away");
    return { text: '"blue"', seen: position };
  };
  const view = valueView({ rootKey: "settings", path: ["colour"], read });
  const { changes } = removal as Extract<ChangesRead, { outcome: "changes" }>;
  const batch = {
    outcome: "batch",
    from: begun,
    end: position,
    changes,
    positions: new Set([position]),
    seen: position,
    length: 0,
    began: 1,
    ended: 2,
    rendered: new Rendered(0),
  } as const;
  await expect(view.eventsOf(batch, begun)).rejects.toThrow();
  expect(await view.eventsOf(batch, begun)).toMatchObject([{ name: "put", position }]);
});
