import { beforeEach, describe, expect, test } from "vitest";
import type { DefinitionState } from "../../../../operator/watch/definitions.ts";
import { HeldDeletions } from "../../../../operator/watch/held-deletions.ts";
import { manualTime } from "../../../support/time/manual-time.ts";
import { served } from "./scripted-reader.ts";
import { type SinkRecord, sinkRecord } from "./sink-record.ts";

const madeAt = "2026-01-01T00:00:00Z";
const ofShop = { spec: { projectRef: { name: "shop" } } };
const key = (version: number, more: object = {}) => ({
  ...served("one", version, { creationTimestamp: madeAt, ...more }),
  ...ofShop,
});
const leaving = { deletionTimestamp: "2026-02-01T00:00:00Z", finalizers: ["jsonplane.io/purge"] };
const two = (version: number) => ({ ...served("two", version, { creationTimestamp: madeAt }), ...ofShop });
const never = new AbortController().signal;
const unknown: DefinitionState = { what: "unknown", error: new Error("no right") };
const stands: DefinitionState = { what: "present", uid: "first", createdAt: Date.parse(madeAt), resourceVersion: "1" };
const terminating: DefinitionState = { ...stands, what: "terminating" };
const another: DefinitionState = {
  what: "present",
  uid: "second",
  createdAt: Date.parse("2026-03-01T00:00:00Z"),
  resourceVersion: "5",
};

let sink: SinkRecord;
let guard: HeldDeletions;
/** How much the sink had been told when the test began. */
let reportedBefore: number;
let failures: unknown[];
/** Looks that wait for their answer. */
let looks: PromiseWithResolvers<DefinitionState>[];
let time: ReturnType<typeof manualTime>;

beforeEach(() => {
  sink = sinkRecord();
  failures = [];
  looks = [];
  time = manualTime();
  guard = guardAnew();
});

const guardAnew = (): HeldDeletions =>
  new HeldDeletions({
    kind: "ApiKey",
    sink,
    timers: time.timers,
    onReadFailed: (error) => failures.push(error),
    read: () => {
      const look = Promise.withResolvers<DefinitionState>();
      looks.push(look);
      return look.promise;
    },
  });

const heldBy = () => guard.held().map(({ definition }) => definition);
const reported = (): readonly string[] => sink.reported.slice(reportedBefore);

/** Answers the look that waits. */
async function answer(state: DefinitionState | Error): Promise<void> {
  const look = looks.shift();
  if (look === undefined) throw new Error("Nobody looks");
  if (state instanceof Error) look.reject(state);
  else look.resolve(state);
  await time.advance(0);
}

/** Lets `work` happen, and says whether it has ended. */
async function ended(work: Promise<unknown>): Promise<boolean> {
  let isEnded = false;
  void work.then(() => {
    isEnded = true;
  });
  await time.advance(0);
  return isEnded;
}

/** As after a first list. */
async function begin(...states: readonly DefinitionState[]): Promise<void> {
  guard.upserted(key(1), undefined, true);
  for (const state of states) {
    guard.refresh();
    await answer(state);
  }
  reportedBefore = sink.reported.length;
}

describe("a deletion", () => {
  test("is passed on once the definition was found to stand", async () => {
    await begin(stands);
    guard.removed(key(2), false);
    expect(reported()).toEqual([]);
    await answer(stands);
    expect(reported()).toEqual(["-a/one"]);
    expect(guard.held()).toEqual([]);
  });

  test("is waited for until it was passed on, and no longer than the caller wants", async () => {
    await begin(stands);
    let isSettled = false;
    const given = new AbortController();
    const settled = () => guard.waitUntilDecided(given.signal);
    await settled();
    guard.removed(key(2), false);
    const waiting = settled().then(() => {
      isSettled = true;
    });
    await answer(new Error("no"));
    expect([isSettled, reported()]).toEqual([false, []]);
    const abandoned = settled();
    given.abort(new Error("enough"));
    await expect(abandoned).rejects.toThrow("enough");
    await expect(waiting).rejects.toThrow("enough");
    await time.advance(1_000);
    const later = guard.waitUntilDecided(new AbortController().signal);
    await answer(stands);
    await later;
    expect(reported()).toEqual(["-a/one"]);
  });

  test("is waited for no longer than until the look that decides on it, whatever is deleted meanwhile", async () => {
    await begin(stands);
    guard.removed(key(2), false);
    const settled = guard.waitUntilDecided(never);
    guard.removed(two(3), false);
    expect(await ended(settled)).toBe(false);
    await answer(stands);
    expect([await ended(settled), reported()]).toEqual([true, ["-a/one"]]);
  });

  test("is looked at whenever it comes, also while a look ends", async () => {
    for (const ticks of Array.from({ length: 12 }).keys()) {
      const watched = guardAnew();
      watched.refresh();
      looks.shift()?.resolve(stands);
      for (let tick = 0; tick < ticks; tick += 1) await undefined;
      watched.removed(key(2), false);
      await time.advance(0);
      expect(looks.splice(0), `after ${ticks} ticks`).toHaveLength(1);
    }
  });

  test("waits for a look of its own when it comes during one", async () => {
    await begin(stands);
    guard.refresh();
    guard.removed(key(2), false);
    await answer(stands);
    expect(reported()).toEqual([]);
    await answer(terminating);
    expect(guard.isHeld("a", "one")).toBe(true);
  });

  test("waits while the look fails, and is tried again", async () => {
    await begin(stands);
    guard.removed(key(2), false);
    await answer(new Error("away"));
    expect([failures.length, reported(), looks.length]).toEqual([1, [], 0]);
    await time.advance(1_000);
    await answer(stands);
    expect(reported()).toEqual(["-a/one"]);
  });

  test("is passed on at once where nobody may look", async () => {
    await begin(unknown);
    guard.removed(key(2), false);
    await answer(unknown);
    expect(reported()).toEqual(["-a/one"]);
  });

  test("waits where the right to look was taken away, for as long as it is missing", async () => {
    await begin(stands);
    guard.removed(key(2), false);
    for (const count of [1, 2, 3]) {
      await answer(unknown);
      expect([failures.length, reported(), guard.isHeld("a", "one"), guard.isDeletionPending("a", "one")]).toEqual([
        count,
        [],
        false,
        true,
      ]);
      await time.advance(1_000);
    }
    await answer(terminating);
    expect([guard.isHeld("a", "one"), guard.isDeletionPending("a", "one")]).toEqual([true, true]);
  });

  test("holds up nobody where the right to look was taken away", async () => {
    await begin(stands);
    guard.removed(key(2), false);
    const isGone = guard.isDefinitionGone(never);
    const settled = guard.waitUntilDecided(never);
    await answer(unknown);
    expect(await ended(settled)).toBe(true);
    await time.advance(1_000);
    await answer(unknown);
    expect(await isGone).toBe(false);
    expect(reported()).toEqual([]);
  });

  test("that began before the definition's is not held", async () => {
    await begin(stands);
    guard.upserted(key(2, leaving), key(1), false);
    await answer(stands);
    guard.removed(key(2, leaving), false);
    expect(reported()).toEqual(["~a/one", "-a/one"]);
  });
});

describe("an object whose definition", () => {
  test.for([
    ["goes", terminating],
    ["has gone", { what: "gone" } as const],
    ["is another one", another],
  ] as const)("%s is held", async ([, state]) => {
    await begin(stands);
    guard.removed(key(2), false);
    await answer(state);
    const projects = [{ namespace: "a", name: "shop" }];
    expect(guard.held()).toEqual([{ kind: "ApiKey", definition: "first", projects }]);
    expect(reported()).not.toContain("-a/one");
  });

  test("is another one, and older than it, is not held", async () => {
    await begin(stands, another);
    guard.removed(key(2, { creationTimestamp: "2026-03-02T00:00:00Z" }), false);
    await answer(another);
    expect(reported()).toEqual(["-a/one"]);
  });

  test("goes while it has a finalizer is shown as if it stayed, with the version that can be written", async () => {
    await begin(stands);
    guard.upserted(key(2, leaving), key(1), false);
    await answer(terminating);
    const shown = sink.view.get("a/one");
    expect(shown?.metadata).toMatchObject({ resourceVersion: "2", finalizers: leaving.finalizers });
    expect(shown?.metadata).not.toHaveProperty("deletionTimestamp");
    guard.removed(key(3, leaving), false);
    expect(guard.isHeld("a", "one")).toBe(true);
    expect(sink.view.get("a/one")?.metadata).not.toHaveProperty("finalizers");
  });
});

describe("an object that was made anew under its name", () => {
  const anew = (version: number, more: object = {}) =>
    key(version, { uid: "another", creationTimestamp: "2026-03-02T00:00:00Z", ...more });

  /** A list tells of both, as after a gap of the watch. */
  async function replaced(): Promise<void> {
    await begin(stands);
    guard.removed(key(1), true);
    guard.upserted(anew(9), undefined, true);
    expect(reported()).toEqual([]);
  }

  test("is shown once the definition was found to stand, and the removal of the former one before it", async () => {
    await replaced();
    await answer(stands);
    expect(reported()).toEqual(["-a/one", "+a/one*"]);
    expect(sink.view.get("a/one")).toEqual(anew(9));
  });

  test("succeeds to the former one where that went with its definition", async () => {
    await replaced();
    await answer(another);
    expect(reported().join(" ")).not.toContain("-a/one");
    expect(sink.view.get("a/one")).toEqual(anew(9));
    expect(guard.held()).toEqual([]);
  });

  test("is shown as it is by then", async () => {
    await replaced();
    guard.upserted(anew(10), anew(9), false);
    await answer(another);
    expect(sink.view.get("a/one")).toEqual(anew(10));
    expect(guard.held()).toEqual([]);
  });

  test("and deleted again is deleted, under the definition that stands by then", async () => {
    await replaced();
    guard.removed(anew(9), false);
    const settled = guard.waitUntilDecided(never);
    await answer(another);
    expect([await ended(settled), sink.view.get("a/one")]).toEqual([false, anew(9)]);
    await answer(another);
    expect([await ended(settled), sink.view.has("a/one"), guard.held()]).toEqual([true, false, []]);
  });

  test("and on its way out waits for a look that began after that", async () => {
    await begin(stands);
    guard.refresh();
    guard.removed(key(1), true);
    guard.upserted(anew(9), undefined, true);
    await answer(stands);
    guard.upserted(anew(10, leaving), anew(9), false);
    await answer(stands);
    expect(sink.view.get("a/one")).toEqual(anew(9));
    await answer(terminating);
    expect(guard.isHeld("a", "one")).toBe(true);
  });

  test("before its definition went replaced one that was deleted by itself", async () => {
    await begin(stands);
    guard.refresh();
    guard.removed(key(1), true);
    guard.upserted(anew(9, { creationTimestamp: "2026-01-02T00:00:00Z" }), undefined, true);
    await answer(stands);
    await answer(terminating);
    expect(reported().map((each) => each.slice(0, 6))).toEqual(["-a/one", "+a/one"]);
  });

  test("after a look began does not speak of what that look saw", async () => {
    await replaced();
    await answer(terminating);
    expect(reported().join(" ")).not.toContain("-a/one");
    expect(sink.view.get("a/one")).toEqual(anew(9));
  });
});

describe("the definition", () => {
  test("is looked at by one at a time, so that no answer is older than one before it", async () => {
    await begin(stands);
    guard.refresh();
    const isGone = guard.isDefinitionGone(never);
    await time.advance(0);
    expect(looks).toHaveLength(1);
    await answer(stands);
    expect(await ended(isGone)).toBe(false);
    await answer({ what: "gone" });
    expect([await isGone, guard.currentDefinition()]).toEqual([true, undefined]);
  });

  test("is asked about until it is answered", async () => {
    await begin(stands);
    const isGone = guard.isDefinitionGone(never);
    await answer(new Error("away"));
    expect(await ended(isGone)).toBe(false);
    await time.advance(1_000);
    await answer(another);
    expect([await isGone, guard.currentDefinition()]).toEqual([false, "second"]);
  });

  test("is asked about no longer than the caller wants", async () => {
    const given = new AbortController();
    const isGone = guard.isDefinitionGone(given.signal);
    given.abort(new Error("enough"));
    await expect(isGone).rejects.toThrow("enough");
  });
});

describe("what is held is named", () => {
  test("by the definition before the one that stands, also where that is known since before", async () => {
    await begin(stands, another);
    guard.removed(key(2), true);
    await answer(another);
    expect(heldBy()).toEqual(["first"]);
  });

  test("by the first object of it where no definition was ever known, for as long as anything is held", async () => {
    await begin();
    guard.removed(key(2), false);
    await answer({ what: "gone" });
    expect(heldBy()).toEqual(["uid-one"]);
    guard.removed(two(3), false);
    await answer({ what: "gone" });
    expect(heldBy()).toEqual(["uid-one"]);
    guard.upserted(key(9, { uid: "another" }), undefined, false);
    await answer({ what: "gone" });
    expect(heldBy()).toEqual(["uid-one"]);
  });
});

describe("what is held", () => {
  beforeEach(async () => {
    await begin(stands);
    guard.removed(key(2), false);
    await answer(terminating);
    reportedBefore = sink.reported.length;
  });

  test("is succeeded to by the next object of its name", () => {
    guard.upserted(key(9, { uid: "another" }), undefined, false);
    expect(reported()).toEqual(["+a/one"]);
    expect(guard.held()).toEqual([]);
  });

  test("has gone from its Project when the next object of its name is another one's", () => {
    const elsewhere = { ...key(9, { uid: "another" }), spec: { projectRef: { name: "blog" } } };
    guard.upserted(elsewhere, undefined, false);
    expect(reported()).toEqual(["-a/one", "+a/one"]);
  });

  test("is deleted once it is released", () => {
    guard.release("second");
    expect(guard.isHeld("a", "one")).toBe(true);
    guard.release("first");
    expect(reported()).toEqual(["-a/one"]);
    expect(guard.held()).toEqual([]);
  });
});
