import { describe, expect, test } from "vitest";
import { ApiFailure, ApiUnreachable, type ListScope } from "../../../../operator/kube/api.ts";
import { secretType } from "../../../../operator/kube/objects.ts";
import { reflectNamespaces } from "../../../../operator/watch/reflect-namespaces.ts";
import { createReflector } from "../../../../operator/watch/reflector.ts";
import type { ReflectorObservation } from "../../../../operator/watch/reflector-options.ts";
import { manualTime, settled } from "../../../support/time/manual-time.ts";
import { page, scriptedReader, served } from "./scripted-reader.ts";
import { sinkRecord } from "./sink-record.ts";

const gone = new ApiFailure(410, { reason: "Expired", message: "too old" });

function begun({ random = () => 1 - 2 ** -30, scope = {} as ListScope } = {}) {
  const time = manualTime();
  const scripted = scriptedReader();
  const sink = sinkRecord();
  const observed: ReflectorObservation[] = [];
  const reflector = createReflector({
    reader: scripted.reader,
    type: secretType,
    scope,
    sink,
    timers: time.timers,
    monotonic: time.monotonic,
    random,
    observe: (observation) => observed.push(observation),
  });
  reflector.start();
  const pauses = (): readonly number[] =>
    observed.flatMap((each) => (each.what === "failed" ? [Math.round(each.pauseMs)] : []));
  return { ...scripted, time, sink, observed, reflector, pauses };
}

/** A reflector that has listed `one` at version 10 and watches from there. */
async function watching(options: Parameters<typeof begun>[0] = {}) {
  const all = begun(options);
  all.answer(page(10, [served("one", 1)]));
  await settled();
  expect(all.asked).toEqual(["list", "watch 10"]);
  return all;
}

describe("lists", () => {
  test("are read page by page and taken over at once, when complete", async () => {
    const { answer, asked, reflector, sink } = begun();
    answer(page(10, [served("one", 1)], "t1"), page(10, [served("two", 2)], "t2"));
    await settled();
    expect(asked).toEqual(["list", "list t1", "list t2"]);
    expect([...reflector.watched.all()]).toEqual([]);
    expect(reflector.watched.synced()).toBe(false);
    await reflector.stop();
    expect(sink.reported).toEqual([]);
  });

  test("begin anew at once when the server has forgotten between two pages", async () => {
    const { answer, asked, reflector } = begun();
    answer(page(10, [served("one", 1)], "t1"), gone, page(20, [served("two", 2)]));
    await settled();
    expect(asked).toEqual(["list", "list t1", "list", "watch 20"]);
    expect([...reflector.watched.all()].map(({ metadata }) => metadata.name)).toEqual(["two"]);
    await reflector.stop();
  });

  test("are tried again after a failure, with growing pauses up to five seconds", async () => {
    const { answer, asked, time, pauses, reflector } = begun();
    answer(...Array.from({ length: 9 }, () => new ApiUnreachable("refused")));
    await time.advance(60_000);
    expect(pauses()).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000]);
    expect(asked).toHaveLength(10);
    await reflector.stop();
  });
});

describe("watches", () => {
  test("go on from the version of the last event or bookmark", async () => {
    const { send, fail, asked, time, reflector } = await watching();
    send({ type: "MODIFIED", object: served("one", 12) });
    send({ type: "BOOKMARK", resourceVersion: "17" });
    await settled();
    fail(new ApiUnreachable("cut"));
    await time.advance(250);
    expect(asked.slice(2)).toEqual(["watch 17"]);
    expect(reflector.watched.get("a", "one")?.metadata.resourceVersion).toBe("12");
    await reflector.stop();
  });

  test("begin again at once when the server ends one that lasted, and not without pause when it ends them at once", async () => {
    const { end, refuse, asked, time, reflector } = await watching();
    await time.advance(5_000);
    end();
    await settled();
    expect(asked).toHaveLength(3);
    refuse("end", "end", "end");
    await time.advance(5_000);
    end();
    await settled();
    expect(asked).toHaveLength(4);
    await time.advance(250);
    expect(asked).toHaveLength(5);
    await time.advance(499);
    expect(asked).toHaveLength(5);
    await time.advance(1);
    expect(asked).toHaveLength(6);
    await reflector.stop();
  });

  test("list anew at once after a first 410, and after a pause when another follows", async () => {
    const { answer, fail, asked, time, reflector } = await watching();
    answer(page(30, [served("one", 1)]), page(40, [served("one", 1)]));
    fail(gone);
    await settled();
    expect(asked.slice(2)).toEqual(["list", "watch 30"]);
    fail(gone);
    await settled();
    expect(asked).toHaveLength(4);
    await time.advance(250);
    expect(asked.slice(4)).toEqual(["list", "watch 40"]);
    await reflector.stop();
  });

  test("wait as long as a busy server asks for, and never longer than five seconds", async () => {
    const { refuse, fail, pauses, time, reflector } = await watching({ random: () => 0 });
    const busy = (retryAfterSeconds: number): Error =>
      new ApiFailure(429, { message: "too many requests", retryAfterSeconds });
    refuse(busy(3_600));
    fail(busy(2));
    await time.advance(20_000);
    expect(pauses()).toEqual([2_000, 5_000]);
    await reflector.stop();
  });

  test("count as begun once the server answers, and only once", async () => {
    const { refuse, fail, bytes, observed, time, reflector } = await watching();
    const begun = () => observed.filter(({ what }) => what === "watching").length;
    expect(begun()).toBe(0);
    bytes();
    bytes();
    await settled();
    expect(begun()).toBe(1);
    refuse(new ApiUnreachable("refused"), new ApiUnreachable("refused"));
    fail(new ApiUnreachable("cut"));
    await time.advance(20_000);
    expect(begun()).toBe(1);
    bytes();
    await settled();
    expect(begun()).toBe(2);
    await reflector.stop();
  });

  test("start with short pauses again after an event", async () => {
    const { refuse, fail, send, pauses, time, reflector } = await watching();
    const cut = new ApiUnreachable("cut");
    refuse(cut, cut);
    fail(cut);
    await time.advance(2_000);
    send({ type: "BOOKMARK", resourceVersion: "11" });
    await settled();
    fail(cut);
    await settled();
    expect(pauses()).toEqual([250, 500, 1_000, 250]);
    await reflector.stop();
  });

  test("are replaced when no byte comes for two minutes, and kept by any byte", async () => {
    const { bytes, asked, observed, time, reflector } = await watching();
    await time.advance(119_000);
    bytes();
    await time.advance(119_000);
    expect(asked).toHaveLength(2);
    expect(reflector.lastActivity()).toBe(119_000);
    await time.advance(1_000);
    expect(asked.slice(2)).toEqual(["watch 10"]);
    expect(observed.filter(({ what }) => what === "silent")).toHaveLength(1);
    await reflector.stop();
  });

  test("count as silent while the server has no such kind, and say so", async () => {
    const { answer, fail, time, reflector } = await watching();
    const notFound = new ApiFailure(404, { reason: "NotFound", message: "no such resource" });
    await time.advance(10_000);
    answer(notFound);
    fail(notFound);
    await time.advance(500);
    expect([reflector.lastActivity(), reflector.isMissing()]).toEqual([0, true]);
    answer(page(20, []));
    await time.advance(10_000);
    expect([reflector.lastActivity(), reflector.isMissing()]).toEqual([expect.closeTo(10_750, -3), false]);
    await reflector.stop();
  });

  test("list anew when a second one in a row is silent: the server waits for a version that a restored backup lacks", async () => {
    const { answer, asked, time, reflector } = await watching();
    answer(page(5, [served("one", 1)]));
    await time.advance(240_000);
    expect(asked.slice(2)).toEqual(["watch 10", "list", "watch 5"]);
    await reflector.stop();
  });

  test("list anew when versions run backwards", async () => {
    const { answer, send, asked, time, reflector } = await watching();
    answer(page(7, [served("two", 6)]));
    send({ type: "BOOKMARK", resourceVersion: "6" });
    await time.advance(250);
    expect(asked.slice(2)).toEqual(["list", "watch 7"]);
    await reflector.stop();
  });
});

describe("stopping", () => {
  test("ends a watch, a list and a pause, and nothing is asked afterwards", async () => {
    const open = await watching();
    const listing = begun();
    const pausing = await watching();
    pausing.fail(new ApiUnreachable("cut"));
    await settled();
    for (const { reflector, asked, time } of [open, listing, pausing]) {
      const before = asked.length;
      await reflector.stop();
      await time.advance(3_600_000);
      expect(asked).toHaveLength(before);
      expect(time.waiting()).toBe(0);
      expect(() => reflector.start()).toThrow();
    }
  });
});

describe("several namespaces", () => {
  test("are reflected one by one behind one view", async () => {
    const time = manualTime();
    const scripted = scriptedReader();
    const reflector = reflectNamespaces({
      reader: scripted.reader,
      type: secretType,
      scope: {},
      namespaces: ["a", "b", "a"],
      sink: sinkRecord(),
      timers: time.timers,
      monotonic: time.monotonic,
      random: () => 0,
      observe: () => undefined,
    });
    scripted.answer(page(10, [served("one", 1)]));
    reflector.start();
    await settled();
    expect(scripted.asked).toEqual(["list", "list", "watch 10"]);
    expect(reflector.watched.synced()).toBe(false);
    expect(reflector.lastActivity()).toBe(undefined);
    reflector.watched.applyOwnWrite(served("two", 20, { namespace: "b" }));
    reflector.watched.applyOwnWrite(served("three", 20, { namespace: "elsewhere" }));
    expect([...reflector.watched.all()].map(({ metadata }) => metadata.name)).toEqual(["one", "two"]);
    expect(reflector.watched.get("b", "two")).toBeDefined();
    reflector.watched.applyOwnDelete(served("two", 20, { namespace: "b" }));
    expect(reflector.watched.get("b", "two")).toBe(undefined);
    await reflector.stop();
  });

  test("that the server refuses to tell of hold up none of the others, and are known for unknown, as one that is not watched", async () => {
    const time = manualTime();
    const scripted = scriptedReader();
    const forbidden = new ApiFailure(403, { reason: "Forbidden", message: "no right" });
    const reflector = reflectNamespaces({
      reader: scripted.reader,
      type: secretType,
      scope: {},
      namespaces: ["a", "b"],
      sink: sinkRecord(),
      timers: time.timers,
      monotonic: time.monotonic,
      random: () => 1 - 2 ** -30,
      observe: () => undefined,
    });
    const known = () => ["a", "b", "elsewhere"].map((namespace) => reflector.isCurrent(namespace));
    scripted.answer(forbidden, forbidden);
    reflector.start();
    await settled();
    expect([reflector.watched.synced(), reflector.forbidden(), known()]).toEqual([false, true, [false, false, false]]);
    scripted.answer(page(10, [served("one", 1)]), forbidden);
    await time.advance(250);
    expect([reflector.watched.synced(), reflector.forbidden(), known()]).toEqual([true, false, [true, false, false]]);
    await time.advance(249);
    expect(reflector.lastActivity()).toBeCloseTo(250, 3);
    scripted.answer(page(12, []));
    await time.advance(2_000);
    expect(known()).toEqual([true, true, false]);
    await reflector.stop();
  });
});
