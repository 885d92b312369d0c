// What is kept is made sure of before somebody acts on it: a connection may have died without a
// word.

import { describe, expect, test } from "vitest";
import { ApiFailure, ApiUnreachable, type KubeObject, type WatchEvent } from "../../../../operator/kube/api.ts";
import { customTypes, secretType } from "../../../../operator/kube/objects.ts";
import { reflectNamespaces } from "../../../../operator/watch/reflect-namespaces.ts";
import { createReflector } from "../../../../operator/watch/reflector.ts";
import type { ReflectorObservation, ReflectorOptions } from "../../../../operator/watch/reflector-options.ts";
import { type ManualTime, manualTime, settled } from "../../../support/time/manual-time.ts";
import { page, scriptedReader, served } from "./scripted-reader.ts";
import { sinkRecord } from "./sink-record.ts";

const refused = new ApiFailure(403, { reason: "Forbidden", message: "no right" });
const notFound = new ApiFailure(404, { reason: "NotFound", message: "no such resource" });
const never = new AbortController().signal;
const catchUpMs = 1_000;

function parts() {
  const time = manualTime();
  const scripted = scriptedReader();
  const observed: ReflectorObservation[] = [];
  const options: Omit<ReflectorOptions, "scope"> = {
    reader: scripted.reader,
    type: secretType,
    sink: sinkRecord(),
    timers: time.timers,
    monotonic: time.monotonic,
    random: () => 1 - 2 ** -30,
    observe: (observation) => observed.push(observation),
  };
  return { ...scripted, time, observed, options };
}

/** A reflector that has listed `one` of version 1 at 10, and watches from there. */
async function watching(type = secretType) {
  const all = parts();
  const reflector = createReflector({ ...all.options, type, scope: {} });
  reflector.start();
  all.answer(page(10, [served("one", 1)]));
  await settled();
  const names = (): readonly string[] =>
    [...reflector.watched.all()].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  return { ...all, reflector, names };
}

describe("what is kept", () => {
  test("is confirmed without being listed where the server has the same: by a watch that is opened anew, and versions", async () => {
    const { answer, asked, observed, reflector } = await watching();
    const confirmed = reflector.confirm(never);
    answer(page(500, [served("one", 1)]));
    expect(await confirmed).toBe(true);
    expect([...asked].sort()).toEqual(["compare", "list", "watch 10", "watch 10"]);
    expect(observed).toContainEqual({ what: "compared", behind: 0 });
    await reflector.stop();
  });

  test("is confirmed likewise where objects have no namespace, as Namespaces", async () => {
    const { answer, observed, options } = parts();
    const reflector = createReflector({ ...options, scope: {} });
    reflector.start();
    const { namespace: _, ...metadata } = served("one", 1).metadata;
    const without = { metadata } as unknown as KubeObject;
    answer(page(10, [without]));
    await settled();
    const confirmed = reflector.confirm(never);
    answer(page(500, [without]));
    expect(await confirmed).toBe(true);
    expect(observed).toContainEqual({ what: "compared", behind: 0 });
    await reflector.stop();
  });

  test("is waited for while the watch tells what the server has newer", async () => {
    const { answer, asked, send, names, reflector, time } = await watching();
    const confirmed = reflector.confirm(never);
    answer(page(20, [served("one", 15), served("two", 16)]));
    await time.advance(catchUpMs / 2);
    send({ type: "MODIFIED", object: served("one", 15) }, { type: "ADDED", object: served("two", 16) });
    await time.advance(20);
    expect(await confirmed).toBe(true);
    expect(names()).toEqual(["one 15", "two 16"]);
    expect(asked).not.toContain("list 20");
    expect(asked.filter((each) => each === "list")).toHaveLength(1);
    await reflector.stop();
  });

  test.each<readonly [string, readonly KubeObject[]]>([
    ["has changed", [served("one", 15)]],
    ["has come", [served("one", 1), served("two", 15)]],
    ["has gone", []],
    ["was made anew under the same name", [served("one", 15, { uid: "another" })]],
  ])("is listed anew where something %s and no watch tells of it", async (_, items) => {
    const { answer, asked, names, observed, reflector, time } = await watching();
    const confirmed = reflector.confirm(never);
    answer(page(20, items), page(21, items));
    await time.advance(catchUpMs);
    await time.advance(100);
    expect(await confirmed).toBe(true);
    expect(names()).toEqual(items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`));
    expect(asked.slice(-2)).toEqual(["list", "watch 21"]);
    expect(observed).toContainEqual({ what: "compared", behind: 1 });
    await reflector.stop();
  });

  test.each<readonly [string, WatchEvent]>([
    ["has gone", { type: "DELETED", object: served("one", 21) }],
    ["has changed", { type: "MODIFIED", object: served("one", 21) }],
    ["has come", { type: "ADDED", object: served("two", 21) }],
  ])("counts for newer than a list where the watch has told since that something %s", async (_, event) => {
    const { answer, asked, send, reflector } = await watching();
    const confirmed = reflector.confirm(never);
    await settled();
    send(event);
    await settled();
    answer(page(20, [served("one", 1)]));
    expect(await confirmed).toBe(true);
    expect(asked.filter((each) => each === "list")).toHaveLength(1);
    await reflector.stop();
  });

  test("is compared page by page, from the beginning again where the server has forgotten", async () => {
    const { answer, asked, reflector } = await watching();
    const confirmed = reflector.confirm(never);
    const gone = new ApiFailure(410, { reason: "Expired", message: "too old" });
    answer(page(20, [served("old", 5)], "t1"), gone, page(30, [], "t2"), page(30, [served("one", 1)]));
    expect(await confirmed).toBe(true);
    expect(asked.filter((each) => !each.startsWith("watch"))).toEqual([
      "list",
      "compare",
      "compare t1",
      "compare",
      "compare t2",
    ]);
    await reflector.stop();
  });

  test("is listed anew when the server's history was set back, though it looks alike", async () => {
    const { answer, asked, reflector, time } = await watching();
    const confirmed = reflector.confirm(never);
    answer(page(5, [served("one", 1)]), page(5, [served("one", 1)]));
    await time.advance(100);
    expect(await confirmed).toBe(true);
    expect(asked.slice(-2)).toEqual(["list", "watch 5"]);
    await reflector.stop();
  });

  test("is asked about until the server tells", async () => {
    const { answer, observed, reflector, time } = await watching();
    const confirmed = reflector.confirm(never);
    answer(new ApiUnreachable("no answer"), new ApiUnreachable("no answer"), page(20, [served("one", 1)]));
    await time.advance(250);
    await time.advance(500);
    expect(await confirmed).toBe(true);
    expect(observed.filter(({ what }) => what === "failed")).toHaveLength(2);
    await reflector.stop();
  });

  test("is not known where the server refuses to tell, until it was listed anew", async () => {
    const { answer, names, reflector, time } = await watching();
    answer(refused, refused);
    expect(await reflector.confirm(never)).toBe(false);
    await settled();
    expect([reflector.isCurrent(), reflector.watched.synced(), reflector.forbidden()]).toEqual([false, true, true]);
    expect(await reflector.confirm(never)).toBe(false);
    answer(page(30, [served("two", 25)]));
    await time.advance(250);
    expect([reflector.isCurrent(), reflector.forbidden(), names()]).toEqual([true, false, ["two 25"]]);
    await reflector.stop();
  });

  test("is asked about no more when nobody wants to know", async () => {
    const { asked, reflector, time } = await watching();
    const over = new AbortController();
    const confirmed = reflector.confirm(over.signal);
    await settled();
    over.abort(new Error("over"));
    await expect(confirmed).rejects.toThrow("over");
    const before = asked.length;
    await time.advance(60_000);
    expect(asked.length).toBe(before);
    await reflector.stop();
  });
});

describe("what is kept of a kind whose definition is gone", () => {
  const confirmedAfter = async (milliseconds: number, confirmed: Promise<boolean>, time: ManualTime) => {
    let answer: boolean | undefined;
    void confirmed.then((known) => {
      answer = known;
    });
    await time.advance(milliseconds);
    return answer;
  };

  test("is all that anybody can say, once three lists found no such kind: nobody waits for more", async () => {
    const { answer, names, observed, reflector, time } = await watching(customTypes.ApiKey);
    const confirmed = reflector.confirm(never);
    answer(notFound, notFound);
    expect(await confirmedAfter(1_999, confirmed, time)).toBeUndefined();
    answer(notFound);
    expect(await confirmedAfter(1, confirmed, time)).toBe(true);
    expect([reflector.isCurrent(), names()]).toEqual([true, ["one 1"]]);
    expect(observed.filter(({ what }) => what === "failed")).toHaveLength(2);
    await reflector.stop();
  });

  test("is that also where the watch had found it gone before", async () => {
    const { answer, fail, names, reflector, time } = await watching(customTypes.ApiKey);
    answer(...Array.from({ length: 8 }, () => notFound));
    fail(notFound);
    await settled();
    const confirmed = reflector.confirm(never);
    expect(await confirmedAfter(1_000, confirmed, time)).toBeUndefined();
    expect(await confirmedAfter(1_100, confirmed, time)).toBe(true);
    expect([reflector.isCurrent(), names()]).toEqual([true, ["one 1"]]);
    answer(page(30, [served("two", 25)]));
    await time.advance(30_000);
    expect(names()).toEqual(["two 25"]);
    await reflector.stop();
  });

  test("is asked about again where it is served meanwhile", async () => {
    const { answer, reflector, time } = await watching(customTypes.ApiKey);
    const confirmed = reflector.confirm(never);
    answer(notFound, notFound, new ApiUnreachable("no answer"), notFound, notFound, page(20, [served("one", 1)]));
    // Five lists found nothing by then, and no three in a row.
    expect(await confirmedAfter(4_000, confirmed, time)).toBeUndefined();
    expect(await confirmedAfter(6_000, confirmed, time)).toBe(true);
    await reflector.stop();
  });

  test("is asked for anew, whatever was found before", async () => {
    const { answer, fail, reflector, time } = await watching(customTypes.ApiKey);
    answer(notFound);
    fail(notFound);
    await time.advance(100);
    const confirmed = reflector.confirm(never);
    expect(await confirmedAfter(30_000, confirmed, time)).toBeUndefined();
    // Lists that were given up take their answers, too.
    answer(...[20, 21, 22].map((version) => page(version, [served("one", 1)])));
    await time.advance(100);
    expect(await confirmed).toBe(true);
    await reflector.stop();
  });

  test("is not what such an answer says of a kind of Kubernetes itself", async () => {
    const { answer, reflector, time } = await watching();
    const confirmed = reflector.confirm(never);
    answer(...Array.from({ length: 5 }, () => notFound));
    expect(await confirmedAfter(30_000, confirmed, time)).toBeUndefined();
    answer(page(20, [served("one", 1)]));
    await time.advance(30_000);
    expect(await confirmed).toBe(true);
    await reflector.stop();
  });
});

describe("what is kept of all namespaces at once", () => {
  test("is asked about again and again while the server refuses to tell", async () => {
    const { answer, options, time } = parts();
    const reflector = reflectNamespaces({ ...options, scope: {}, namespaces: [] });
    reflector.start();
    answer(page(10, []));
    await settled();
    answer(refused, refused);
    let done = false;
    const confirmed = reflector.confirm(never).then(() => {
      done = true;
    });
    await time.advance(100);
    expect([done, reflector.isCurrent("a")]).toEqual([false, false]);
    answer(page(20, []), page(21, []));
    await time.advance(5_000);
    await confirmed;
    expect(reflector.isCurrent("a")).toBe(true);
    await reflector.stop();
  });
});

describe("what is kept of several namespaces", () => {
  test("is known of those that the server tells of; others hold up none of them", async () => {
    const { answer, options, time } = parts();
    const reflector = reflectNamespaces({ ...options, scope: {}, namespaces: ["a", "b"] });
    reflector.start();
    answer(page(10, [served("one", 1)]), page(10, []));
    await settled();
    answer(page(20, [served("one", 1)]), refused, refused);
    await reflector.confirm(never);
    await settled();
    expect([reflector.isCurrent("a"), reflector.isCurrent("b"), reflector.watched.synced()]).toEqual([
      true,
      false,
      true,
    ]);
    answer(page(30, []));
    await time.advance(250);
    expect(reflector.isCurrent("b")).toBe(true);
    await reflector.stop();
  });
});
