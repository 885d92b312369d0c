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
const stands: DefinitionState = { what: "stands", uid: "first", createdAt: Date.parse(madeAt) };
const terminating: DefinitionState = { what: "terminating", uid: "first" };
const another: DefinitionState = { what: "stands", uid: "second", createdAt: Date.parse("2026-03-01T00:00:00Z") };

let sink: SinkRecord;
let guard: HeldDeletions;
/** How much the sink had been told when the test began. */
let heard: number;
let failures: unknown[];
/** Looks that wait for their answer. */
let looks: PromiseWithResolvers<DefinitionState>[];
let time: ReturnType<typeof manualTime>;

beforeEach(() => {
  sink = sinkRecord();
  failures = [];
  looks = [];
  time = manualTime();
  guard = new HeldDeletions({
    kind: "ApiKey",
    sink,
    timers: time.timers,
    onLookFailed: (error) => failures.push(error),
    look: () => {
      const look = Promise.withResolvers<DefinitionState>();
      looks.push(look);
      return look.promise;
    },
  });
});

const told = (): readonly string[] => sink.told.slice(heard);

/** Answers the look that waits. */
async function answer(state: DefinitionState | Error): Promise<void> {
  const look = looks.shift();
  if (look === undefined) throw new Error("Nobody looks");
  if (state instanceof Error) look.reject(state);
  else look.resolve(state);
  await time.advance(0);
}

/** As after a first list. */
async function begin(...states: readonly DefinitionState[]): Promise<void> {
  guard.upserted(key(1), undefined, true);
  for (const state of states) {
    guard.learn();
    await answer(state);
  }
  heard = sink.told.length;
}

describe("a deletion", () => {
  test("is passed on once the definition was found to stand", async () => {
    await begin(stands);
    guard.removed(key(2), false);
    expect(told()).toEqual([]);
    await answer(stands);
    expect(told()).toEqual(["-a/one"]);
    expect(guard.held()).toBeUndefined();
  });

  test("is waited for until it was passed on, and no longer than the caller wants", async () => {
    await begin(stands);
    let isSettled = false;
    const given = new AbortController();
    const settled = () => guard.settled(given.signal);
    await settled();
    guard.removed(key(2), false);
    const waiting = settled().then(() => {
      isSettled = true;
    });
    await answer(new Error("no"));
    expect([isSettled, told()]).toEqual([false, []]);
    const abandoned = settled();
    given.abort(new Error("enough"));
    await expect(abandoned).rejects.toThrow("enough");
    await expect(waiting).rejects.toThrow("enough");
    await time.advance(1_000);
    const later = guard.settled(new AbortController().signal);
    await answer(stands);
    await later;
    expect(told()).toEqual(["-a/one"]);
  });

  test("waits for a look of its own when it comes during one", async () => {
    await begin(stands);
    guard.learn();
    guard.removed(key(2), false);
    await answer(stands);
    expect(told()).toEqual([]);
    await answer(terminating);
    expect(guard.isHeld("a", "one")).toBe(true);
  });

  test("waits while the look fails, and is tried again", async () => {
    await begin(stands);
    guard.removed(key(2), false);
    await answer(new Error("away"));
    expect([failures.length, told(), looks.length]).toEqual([1, [], 0]);
    await time.advance(1_000);
    await answer(stands);
    expect(told()).toEqual(["-a/one"]);
  });

  test("is passed on at once where nobody may look", async () => {
    await begin({ what: "unknown" });
    guard.removed(key(2), false);
    await answer({ what: "unknown" });
    expect(told()).toEqual(["-a/one"]);
  });

  test("that began before the definition's is not held", async () => {
    await begin(stands);
    guard.upserted(key(2, leaving), key(1), false);
    await answer(stands);
    guard.removed(key(2, leaving), false);
    expect(told()).toEqual(["~a/one", "-a/one"]);
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
    expect(guard.held()).toEqual({ kind: "ApiKey", definition: "first", projects: [{ namespace: "a", name: "shop" }] });
    expect(told()).not.toContain("-a/one");
  });

  test("is another one, and older than it, is not held", async () => {
    await begin(stands, another);
    guard.removed(key(2, { creationTimestamp: "2026-03-02T00:00:00Z" }), false);
    await answer(another);
    expect(told()).toEqual(["-a/one"]);
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

describe("what is held", () => {
  beforeEach(async () => {
    await begin(stands);
    guard.removed(key(2), false);
    await answer(terminating);
    heard = sink.told.length;
  });

  test("is succeeded to by the next object of its name", () => {
    guard.upserted(key(9, { uid: "another" }), undefined, false);
    expect(told()).toEqual(["+a/one"]);
    expect(guard.held()).toBeUndefined();
  });

  test("has gone from its Project when the next object of its name is another one's", () => {
    const elsewhere = { ...key(9, { uid: "another" }), spec: { projectRef: { name: "blog" } } };
    guard.upserted(elsewhere, undefined, false);
    expect(told()).toEqual(["-a/one", "+a/one"]);
  });

  test("is deleted once it is released", () => {
    guard.release();
    expect(told()).toEqual(["-a/one"]);
    expect(guard.held()).toBeUndefined();
  });
});
