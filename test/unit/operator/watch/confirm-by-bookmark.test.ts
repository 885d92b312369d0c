// Many objects are not compared one by one: a bookmark of a watch that was opened again shows that
// none of them is behind.

import { expect, test } from "vitest";
import type { WatchEvent } from "../../../../operator/kube/api.ts";
import { secretType } from "../../../../operator/kube/objects.ts";
import { createReflector } from "../../../../operator/watch/reflector.ts";
import type { ReflectorObservation } from "../../../../operator/watch/reflector-options.ts";
import { manualTime, settled } from "../../../support/time/manual-time.ts";
import { page, scriptedReader, served } from "./scripted-reader.ts";
import { sinkRecord } from "./sink-record.ts";

const never = new AbortController().signal;
const bookmarkMs = 6_500;

/** A reflector that watches from 10, with more objects than it compares one by one. */
async function watching() {
  const time = manualTime();
  const scripted = scriptedReader();
  const observed: ReflectorObservation[] = [];
  const reflector = createReflector({
    reader: scripted.reader,
    type: secretType,
    scope: {},
    sink: sinkRecord(),
    timers: time.timers,
    monotonic: time.monotonic,
    random: () => 0,
    observe: (observation) => observed.push(observation),
    times: { maxCompared: 1 },
  });
  reflector.start();
  scripted.answer(page(10, [served("one", 1), served("two", 2)]));
  await settled();
  return { ...scripted, time, observed, reflector };
}

test.each<readonly [string, WatchEvent]>([
  ["bookmark", { type: "BOOKMARK", resourceVersion: "500" }],
  ["event", { type: "MODIFIED", object: served("one", 501) }],
])("a %s that is no older than a reading of now ends it, and nothing is listed", async (_, event) => {
  const { answer, asked, timeouts, observed, send, time, reflector } = await watching();
  const confirmed = reflector.confirm(never);
  answer(page(500, [served("one", 1)], "more"));
  await settled();
  send(event);
  await time.advance(20);
  expect(await confirmed).toBe(true);
  expect([...asked].sort()).toEqual(["compare", "list", "watch 10", "watch 10"]);
  expect(timeouts).toEqual([300, 3]);
  expect(observed).toContainEqual({ what: "compared", behind: 0 });
  await reflector.stop();
});

test("the next watch lasts as usual", async () => {
  const { answer, timeouts, send, end, time, reflector } = await watching();
  const confirmed = reflector.confirm(never);
  answer(page(500, [], "more"));
  await settled();
  send({ type: "BOOKMARK", resourceVersion: "500" });
  await time.advance(20);
  await confirmed;
  end();
  await time.advance(5_000);
  expect(timeouts).toEqual([300, 3, 300]);
  await reflector.stop();
});

test("a bookmark from before the reading shows nothing: without another one all are compared", async () => {
  const { answer, asked, send, time, reflector } = await watching();
  const confirmed = reflector.confirm(never);
  answer(page(500, [], "more"));
  await settled();
  send({ type: "BOOKMARK", resourceVersion: "499" });
  await time.advance(bookmarkMs - 20);
  expect(asked.filter((each) => each === "compare")).toHaveLength(1);
  answer(page(600, [served("one", 1), served("two", 2)]));
  await time.advance(40);
  expect(await confirmed).toBe(true);
  expect(asked.filter((each) => each === "compare")).toHaveLength(2);
  await reflector.stop();
});

test("where the history was set back, all is listed anew", async () => {
  const { answer, asked, time, reflector } = await watching();
  const confirmed = reflector.confirm(never);
  answer(page(9, [], "more"), page(9, [served("one", 1), served("two", 2)]), page(9, [served("one", 1)]));
  await time.advance(100);
  expect(await confirmed).toBe(true);
  expect(asked.filter((each) => each === "list")).toHaveLength(2);
  expect([...reflector.watched.all()].map(({ metadata }) => metadata.name)).toEqual(["one"]);
  await reflector.stop();
});
