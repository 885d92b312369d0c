import { beforeEach, describe, expect, test } from "vitest";
import { ApiFailure, type KubeObject } from "../../../../operator/kube/api.ts";
import { DeferredDeletions } from "../../../../operator/watch/deferred-deletions.ts";
import { manualTime } from "../../../support/time/manual-time.ts";
import { served } from "./scripted-reader.ts";
import { type SinkRecord, sinkRecord } from "./sink-record.ts";

const deletedAt = "2026-02-01T00:00:00Z";
const key = (version: number, more: object = {}) => served("one", version, more);
const terminating = (version: number, more: object = {}) =>
  key(version, { deletionTimestamp: deletedAt, finalizers: ["jsonplane.io/purge"], ...more });
const recreated = (version: number, more: object = {}) => key(version, { uid: "another", ...more });
const signal = new AbortController().signal;

const stands = served("apikeys.jsonplane.io", 1);
const deleting = served("apikeys.jsonplane.io", 2, { deletionTimestamp: deletedAt });
const missing = "missing";
const forbidden = new ApiFailure(403, { reason: "Forbidden", message: "no right" });
type Answer = KubeObject | "missing" | Error;

let sink: SinkRecord;
let deletions: DeferredDeletions;
/** Why deletions wait. */
let waits: string[];
/** Questions without an answer. */
let questions: PromiseWithResolvers<KubeObject | undefined>[];
let time: ReturnType<typeof manualTime>;
/** How much had been reported when the test began. */
let reportedBefore: number;

beforeEach(() => {
  sink = sinkRecord();
  waits = [];
  questions = [];
  time = manualTime();
  deletions = new DeferredDeletions({
    kind: "ApiKey",
    sink,
    timers: time.timers,
    onWait: (why) => waits.push(why),
    reader: {
      get: (type, { name }) => {
        expect([type.plural, name]).toEqual(["customresourcedefinitions", "apikeys.jsonplane.io"]);
        const question = Promise.withResolvers<KubeObject | undefined>();
        questions.push(question);
        return question.promise;
      },
    },
  });
});

const reported = (): readonly string[] => sink.reported.slice(reportedBefore);

/** The object as the sink knows it. */
const known = (): KubeObject => sink.view.get("a/one") ?? key(1);

/** Answers the oldest question. */
async function answer(...answers: readonly Answer[]): Promise<void> {
  for (const given of answers) {
    const question = questions.shift();
    if (question === undefined) throw new Error("Nobody asks");
    if (given instanceof Error) question.reject(given);
    else question.resolve(given === "missing" ? undefined : given);
    await time.advance(0);
  }
}

/** A process that knows one object, and was answered this to its first question. */
async function begin(first: Answer = stands): Promise<void> {
  deletions.start();
  deletions.upserted(key(1), undefined, true);
  await answer(first);
  reportedBefore = sink.reported.length;
}

describe("a deletion", () => {
  test("is passed on once the definition is known to stand", async () => {
    await begin();
    deletions.removed(key(2), false);
    expect([reported(), deletions.isWaiting("a", "one")]).toEqual([[], true]);
    await answer(stands);
    expect([reported(), deletions.isWaiting("a", "one"), questions]).toEqual([["-a/one"], false, []]);
  });

  test.for([
    ["is being deleted", deleting, "deleting"],
    ["is missing", missing, "missing"],
  ] as const)("waits while the definition %s, and is passed on once one stands", async ([, state, why]) => {
    await begin();
    deletions.removed(known(), false);
    await answer(state);
    for (const _ of [1, 2, 3]) {
      await time.advance(1_000);
      await answer(state);
    }
    expect([reported(), waits, deletions.isWaiting("a", "one")]).toEqual([[], Array(4).fill(why), true]);
    await time.advance(1_000);
    await answer({ ...stands, metadata: { ...stands.metadata, uid: "another" } });
    expect(reported()).toEqual(["-a/one"]);
  });

  test("that arrives during a question waits for the next one", async () => {
    await begin();
    deletions.removed(known(), false);
    deletions.removed(served("two", 1), false);
    await answer(stands);
    expect(reported()).toEqual(["-a/one"]);
    await answer(deleting);
    expect([reported(), deletions.isWaiting("a", "two")]).toEqual([["-a/one"], true]);
  });

  test("of an object recreated during a question waits for the next one", async () => {
    await begin();
    deletions.removed(known(), false);
    deletions.upserted(recreated(2), undefined, false);
    deletions.removed(recreated(2), false);
    await answer(stands);
    expect(reported()).toEqual(["-a/one", "+a/one"]);
    await answer(deleting);
    expect([reported(), deletions.isWaiting("a", "one")]).toEqual([["-a/one", "+a/one"], true]);
  });

  test("waits while the API server does not answer", async () => {
    await begin();
    deletions.removed(known(), false);
    await answer(new Error("away"));
    expect([reported(), waits, questions]).toEqual([[], [expect.stringContaining("away")], []]);
    await time.advance(1_000);
    await answer(stands);
    expect(reported()).toEqual(["-a/one"]);
  });

  test("counts at once where the definition could never be read", async () => {
    await begin(forbidden);
    deletions.removed(known(), false);
    await answer(forbidden);
    expect([reported(), waits]).toEqual([["-a/one"], []]);
  });

  test("waits where the right to read the definition was taken away", async () => {
    await begin();
    deletions.removed(known(), false);
    await answer(forbidden);
    await time.advance(1_000);
    await answer(forbidden);
    expect([reported(), waits]).toEqual([[], ["unreadable", "unreadable"]]);
    await time.advance(1_000);
    await answer(stands);
    expect(reported()).toEqual(["-a/one"]);
  });

  test("is asked about no more once the watch has stopped", async () => {
    await begin();
    deletions.removed(known(), false);
    await answer(missing);
    deletions.stop();
    await time.advance(10_000);
    expect(questions).toEqual([]);
  });
});

describe("an object that waits for its finalizers", () => {
  test("is reported as deleted when that begins, and as gone when it ends", async () => {
    await begin();
    deletions.upserted(terminating(2), known(), false);
    expect(known().metadata).not.toHaveProperty("deletionTimestamp");
    await answer(stands);
    expect(known()).toEqual(terminating(2));
    deletions.upserted(terminating(3), known(), false);
    deletions.removed(known(), false);
    expect([reported(), questions]).toEqual([["~a/one", "~a/one", "~a/one", "-a/one"], []]);
  });

  test("stays while its definition is deleted, as it can be written, and is gone afterwards", async () => {
    await begin();
    deletions.upserted(terminating(2, { generation: 2 }), key(1, { generation: 1 }), false);
    // Nothing has to be done for a generation that is known.
    expect(known()).toMatchObject({ data: { at: "1" }, metadata: { resourceVersion: "2", generation: 1 } });
    await answer(deleting);
    deletions.upserted(terminating(3), terminating(2), false);
    expect(known()).toEqual(key(3, { finalizers: ["jsonplane.io/purge"] }));
    deletions.removed(terminating(3), false);
    await time.advance(1_000);
    await answer(missing);
    expect(reported()).toEqual(["~a/one", "~a/one"]);
    await time.advance(1_000);
    await answer(stands);
    expect(reported()).toEqual(["~a/one", "~a/one", "-a/one"]);
  });

  test("is reported as it is by then", async () => {
    await begin();
    deletions.upserted(terminating(2), known(), false);
    deletions.upserted(terminating(3), terminating(2), false);
    await answer(stands);
    expect(sink.view.get("a/one")).toEqual(terminating(3));
  });

  test("counts as existing for a process that finds it so, until the definition is known to stand", async () => {
    deletions.upserted(terminating(2), undefined, true);
    expect(sink.view.get("a/one")?.metadata).not.toHaveProperty("deletionTimestamp");
    await answer(stands);
    expect(sink.view.get("a/one")).toEqual(terminating(2));
  });
});

test("an object that was recreated comes after the deletion of the one before", async () => {
  await begin();
  deletions.removed(known(), true);
  await answer(missing);
  deletions.upserted(recreated(2), undefined, true);
  expect([reported(), deletions.isWaiting("a", "one")]).toEqual([["-a/one", "+a/one*"], false]);
  expect(sink.faults).toEqual([]);
});

describe("the definition", () => {
  test.for([
    ["is being deleted", deleting],
    ["is missing", missing],
    ["can't be read", new Error("away")],
  ] as const)("has not stood for a process that finds that it %s, until it does", async ([, state]) => {
    await begin(state);
    expect(deletions.hasStood()).toBe(false);
    await time.advance(1_000);
    await answer(stands);
    expect(deletions.hasStood()).toBe(true);
    deletions.removed(known(), false);
    await answer(missing);
    expect(deletions.hasStood()).toBe(true);
  });

  test("is asked for until the API server answers, and what arrived before is passed on by then", async () => {
    await begin();
    let state: string | undefined;
    const asked = deletions.ask(signal).then((found) => {
      state = found;
    });
    deletions.removed(known(), false);
    await answer(new Error("away"));
    expect(state).toBeUndefined();
    await answer(deleting);
    await time.advance(1_000);
    // The one that asks while something waits, and the one that was asked for.
    await answer(stands, stands);
    await asked;
    expect([state, reported()]).toEqual(["stands", ["-a/one"]]);
  });

  test("is asked for no longer than the caller wants", async () => {
    await begin();
    const caller = new AbortController();
    const asked = deletions.ask(caller.signal);
    await answer(new Error("away"));
    caller.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });

  test.for([
    ["missing", missing],
    ["deleting", deleting],
    ["unreadable", forbidden],
  ] as const)("holds up nobody who asks: it is %s", async ([state, given]) => {
    await begin();
    const asked = deletions.ask(signal);
    await answer(given);
    expect(await asked).toBe(state);
  });
});
