import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../../operator/kube/api.ts";
import { ObjectCache } from "../../../../operator/watch/object-cache.ts";
import { page, served } from "./scripted-reader.ts";
import { sinkRecord } from "./sink-record.ts";

function cacheOf(version: number, items: readonly KubeObject[], metadataOnly = false) {
  const sink = sinkRecord();
  const failures: unknown[] = [];
  const cache = new ObjectCache({ sink, metadataOnly, onSinkFailure: (error) => failures.push(error) });
  const list = (at: number, given: readonly KubeObject[], writeSequence = cache.writeSequence()): number =>
    cache.takeList({ ...page(at, given), writeSequence });
  list(version, items);
  const names = (): readonly string[] => [...cache.all()].map((object) => versioned(object));
  return { cache, sink, failures, list, names };
}

function versioned({ metadata }: KubeObject): string {
  return `${metadata.name}@${metadata.resourceVersion}`;
}

describe("lists", () => {
  test("tell what came, changed and went, and leave what stayed alone", () => {
    const { sink, list, names } = cacheOf(10, [served("one", 1), served("two", 2), served("three", 3)]);
    expect(sink.reported).toEqual(["+a/one*", "+a/two*", "+a/three*"]);
    expect(list(20, [served("one", 1), served("two", 12), served("four", 14)])).toBe(3);
    expect(sink.reported.slice(3)).toEqual(["-a/three*", "~a/two*", "+a/four*"]);
    expect(names()).toEqual(["one@1", "two@12", "four@14"]);
  });

  test("take the same name with another UID for another object", () => {
    const { sink, list } = cacheOf(10, [served("one", 1)]);
    list(20, [served("one", 12, { uid: "another" })]);
    expect(sink.reported.slice(1)).toEqual(["-a/one*", "+a/one*"]);
    expect(sink.faults).toEqual([]);
  });

  test("have the spec that counts, also where a restored backup gives the kept generation to another spec", () => {
    const ofSize = (version: number, size: number): KubeObject => ({
      ...served("one", version, { generation: 6 }),
      spec: { size },
    });
    const { cache, list } = cacheOf(20, [ofSize(18, 1)]);
    const before = cache.get("a", "one")?.["spec"];
    list(21, [ofSize(19, 1)]);
    expect(cache.get("a", "one")?.["spec"]).toBe(before);
    list(12, [ofSize(11, 2)]);
    expect(cache.get("a", "one")?.["spec"]).toEqual({ size: 2 });
  });

  test("are there before anybody is told", () => {
    const { cache, list } = cacheOf(10, [served("one", 1)]);
    expect(cache.synced()).toBe(true);
    list(20, []);
    expect([...cache.all()]).toEqual([]);
  });
});

describe("own writes", () => {
  test("are seen at once and told once", () => {
    const { cache, sink, names } = cacheOf(10, [served("one", 1)]);
    cache.applyOwnWrite(served("one", 15));
    expect(names()).toEqual(["one@15"]);
    cache.takeEvent({ type: "MODIFIED", object: served("one", 15) });
    expect(sink.reported).toEqual(["+a/one*", "~a/one"]);
  });

  test("are not undone by an older event, nor by a list that was asked for before", () => {
    const { cache, list, names } = cacheOf(10, [served("one", 1)]);
    const mark = cache.writeSequence();
    cache.applyOwnWrite(served("one", 15));
    cache.applyOwnWrite(served("new", 16));
    cache.takeEvent({ type: "MODIFIED", object: served("one", 12) });
    list(13, [served("one", 12)], mark);
    expect(names()).toEqual(["one@15", "new@16"]);
  });

  test("give way to a list that was asked for after them: history was set back", () => {
    const { cache, list, names } = cacheOf(10, [served("one", 1)]);
    cache.applyOwnWrite(served("one", 15));
    cache.applyOwnWrite(served("new", 16));
    list(5, [served("one", 1)]);
    expect(names()).toEqual(["one@1"]);
  });

  test("that the watch has passed already don't bring back what it told is gone", () => {
    const { cache, names } = cacheOf(10, []);
    cache.takeEvent({ type: "ADDED", object: served("one", 11) });
    cache.takeEvent({ type: "DELETED", object: served("one", 12) });
    cache.applyOwnWrite(served("one", 11));
    expect(names()).toEqual([]);
  });

  test("that are older than what is kept are dropped", () => {
    const { cache, names } = cacheOf(10, []);
    cache.applyOwnWrite(served("one", 20));
    cache.applyOwnWrite(served("one", 15));
    expect(names()).toEqual(["one@20"]);
  });
});

describe("own deletions", () => {
  test("hold against older events and lists", () => {
    const { cache, sink, list, names } = cacheOf(10, [served("one", 1)]);
    const mark = cache.writeSequence();
    cache.applyOwnDelete(served("one", 1));
    cache.takeEvent({ type: "MODIFIED", object: served("one", 12) });
    list(13, [served("one", 12)], mark);
    expect(names()).toEqual([]);
    cache.takeEvent({ type: "DELETED", object: served("one", 14) });
    expect(sink.reported).toEqual(["+a/one*", "-a/one"]);
  });

  test("don't hide what took the name since", () => {
    const { cache, names } = cacheOf(10, [served("one", 1)]);
    cache.applyOwnDelete(served("one", 1));
    cache.applyOwnWrite(served("one", 16, { uid: "another" }));
    cache.takeEvent({ type: "DELETED", object: served("one", 15) });
    expect(names()).toEqual(["one@16"]);
  });

  test("don't hide what its finalizers keep", () => {
    const { cache, names } = cacheOf(10, [served("one", 1)]);
    cache.applyOwnDelete(served("one", 1));
    cache.takeEvent({ type: "MODIFIED", object: served("one", 12, { deletionTimestamp: "2026-11-21T05:00:00Z" }) });
    expect(names()).toEqual(["one@12"]);
  });
});

test("a DELETED event wins over a newer own write of the same object", () => {
  const { cache, names } = cacheOf(10, [served("one", 1)]);
  cache.applyOwnWrite(served("one", 20));
  cache.takeEvent({ type: "DELETED", object: served("one", 15) });
  expect(names()).toEqual([]);
});

test("only metadata are kept where only they are asked for, of own writes too", () => {
  const { cache } = cacheOf(10, [served("one", 1)], true);
  cache.applyOwnWrite(served("two", 12));
  cache.takeEvent({ type: "ADDED", object: served("three", 13) });
  for (const object of cache.all()) expect(Object.keys(object)).toEqual(["metadata"]);
});

test("what a sink throws is counted and stops nothing; a write that it makes is told after its own turn", () => {
  const reported: string[] = [];
  const failures: unknown[] = [];
  const cache: ObjectCache = new ObjectCache({
    metadataOnly: false,
    onSinkFailure: (error) => failures.push(error),
    sink: {
      upserted(object) {
        reported.push(`begin ${versioned(object)}`);
        if (object.metadata.name === "one") cache.applyOwnWrite(served("two", 20));
        reported.push(`end ${versioned(object)}`);
        throw new Error("a sink's fault");
      },
      removed: () => undefined,
    },
  });
  cache.takeEvent({ type: "ADDED", object: served("one", 11) });
  expect(reported).toEqual(["begin one@11", "end one@11", "begin two@20", "end two@20"]);
  expect(failures).toHaveLength(2);
});
