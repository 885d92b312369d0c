// Writes below keys that no path can name share what they read and write; documents and projects
// don't wait for one another.

import { describe, expect, it } from "vitest";
import { WriteConflict } from "../../../../../core/errors/store-errors.ts";
import { type PutOutcome, putAt, removeAt } from "../../../../../core/json/splice.ts";
import { createConnectedEngine } from "../../../../../dataplane/store/redis/engine.ts";
import { documentKeys } from "../../../../../dataplane/store/redis/keys.ts";
import { sha1 } from "../../../../../dataplane/store/redis/objects/objects.ts";
import type { DocumentScripts } from "../../../../../dataplane/store/redis/values/document-scripts.ts";
import {
  type Change,
  createUnaddressablePaths,
  type UnaddressableWrite,
} from "../../../../../dataplane/store/redis/values/unaddressable-paths.ts";
import { manualClock } from "../../../../support/time/manual-clock.ts";

const clock = manualClock();
const { addressableLength } = createConnectedEngine();
const deps = { clock, addressableLength };
const keysOf = (name: string) => documentKeys({ project: { namespace: "ns", name }, rootKey: "doc" });

/** One text per document, which others may change before it is replaced. */
function fakeScripts(others: (text: string) => string = (text) => text) {
  const texts = new Map<string, string>();
  const calls = { reads: 0, writes: 0 };
  const unused = () => Promise.reject(new Error("Unaddressable paths don't use it"));
  const scripts: DocumentScripts = {
    initialise: unused,
    insert: unused,
    put: unused,
    remove: unused,
    async read({ value }) {
      calls.reads += 1;
      const text = texts.get(value);
      return text === undefined ? { outcome: "missing_document" } : { outcome: "found", text };
    },
    async replaceContainer({ keys: { value }, text, previous, maxBytes, maxGrowth }) {
      calls.writes += 1;
      const now = others(texts.get(value) ?? "");
      texts.set(value, now);
      if (sha1(now) !== previous) return { outcome: "conflict" };
      if (text.length > maxBytes) return { outcome: "document_too_large" };
      texts.set(value, text);
      return { outcome: "done", ...(maxGrowth !== undefined && { growth: text.length - now.length }) };
    },
  };
  return { scripts, texts, calls };
}

const put =
  (value: string): Change<"created" | "replaced"> =>
  (text, { below }) =>
    putAt(text, below, value, { mayCreate: true, maxDepth: 64 }) satisfies PutOutcome;
const remove: Change<"removed"> = (text, { below }) => removeAt(text, below);
const numbers = Array.from({ length: 50 }, (_, n) => n);
const at = (
  keys: UnaddressableWrite["keys"],
  key: string,
  more: Partial<UnaddressableWrite> = {},
): UnaddressableWrite => ({
  keys,
  path: [key],
  maxBytes: 10_000,
  ...more,
});

describe("writes under unaddressable keys of one document", () => {
  const keys = keysOf("shop");

  it("that wait together read once and write once, and each hears its own outcome", async () => {
    const { scripts, texts, calls } = fakeScripts();
    texts.set(keys.value, '{"\\"7":0}');
    const unaddressable = createUnaddressablePaths({ ...deps, scripts });
    const answers = await Promise.all([
      ...numbers.map((n) => unaddressable.change(at(keys, `"${n}`), put(String(n)))),
      unaddressable.change(at(keys, '"7'), remove),
      unaddressable.change(at(keys, '"7'), remove),
    ]);
    expect(answers.map(({ outcome }) => outcome)).toEqual([
      ...numbers.map((n) => (n === 7 ? "replaced" : "created")),
      "removed",
      "not_found",
    ]);
    expect(calls).toEqual({ reads: 2, writes: 2 });
    const expected = Object.fromEntries(numbers.filter((n) => n !== 7).map((n) => [`"${n}`, n]));
    expect(JSON.parse(texts.get(keys.value) ?? "")).toEqual(expected);
  });

  it("start again together when others changed it meanwhile", async () => {
    let changes = 3;
    const { scripts, texts, calls } = fakeScripts((text) =>
      changes-- > 0 ? `${text.slice(0, -1)},"o${changes}":1}` : text,
    );
    texts.set(keys.value, '{"a":1}');
    const unaddressable = createUnaddressablePaths({ ...deps, scripts });
    const answers = await Promise.all(numbers.map((n) => unaddressable.change(at(keys, `"${n}`), put("1"))));
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(["created"]));
    expect(Object.keys(JSON.parse(texts.get(keys.value) ?? "") as object)).toHaveLength(1 + 3 + 50);
    expect(calls).toEqual({ reads: 5, writes: 5 });
  });

  it("are judged one by one when all together are too large", async () => {
    const { scripts, texts } = fakeScripts();
    texts.set(keys.value, "{}");
    const unaddressable = createUnaddressablePaths({ ...deps, scripts });
    const values = ["1", "2", JSON.stringify("x".repeat(20_000)), "3"];
    const answers = await Promise.all(values.map((value, n) => unaddressable.change(at(keys, `"${n}`), put(value))));
    expect(answers.map(({ outcome }) => outcome)).toEqual(["created", "created", "document_too_large", "created"]);
    expect(texts.get(keys.value)).toBe('{"\\"0":1,"\\"1":2,"\\"3":3}');
  });

  it("that count their growth are carried out alone, each with its own", async () => {
    const { scripts, texts } = fakeScripts();
    texts.set(keys.value, "{}");
    const unaddressable = createUnaddressablePaths({ ...deps, scripts });
    const answers = await Promise.all(
      [1, 22, 333].map((n) => unaddressable.change(at(keys, `"${n}`, { maxGrowth: 100 }), put(String(n)))),
    );
    expect(answers).toEqual([
      { outcome: "created", growth: 7 },
      { outcome: "created", growth: 10 },
      { outcome: "created", growth: 12 },
    ]);
  });

  it("have a turn that others can wait for, who then come before the next one", async () => {
    const { scripts, texts, calls } = fakeScripts();
    texts.set(keys.value, "{}");
    const unaddressable = createUnaddressablePaths({ ...deps, scripts });
    expect(unaddressable.pendingBatch(keys.value)).toBeUndefined();
    const first = unaddressable.change(at(keys, '"1'), put("1"));
    const second = unaddressable.change(at(keys, '"2'), put("2"));
    const waiting = unaddressable.pendingBatch(keys.value)?.then(() => ({ ...calls }));
    expect(await waiting).toEqual({ reads: 1, writes: 1 });
    await Promise.all([first, second]);
    expect(calls).toEqual({ reads: 2, writes: 2 });
  });

  it("that others keep winning against end as a conflict, not as an outage", async () => {
    const { scripts, texts, calls } = fakeScripts((text) => {
      clock.advance(1_500);
      return text.replace(/}$/, `,"other-${clock.monotonic()}":1}`);
    });
    texts.set(keys.value, '{"a":1}');
    const unaddressable = createUnaddressablePaths({ ...deps, scripts });
    await expect(unaddressable.change(at(keys, '"7'), put("1"))).rejects.toBeInstanceOf(WriteConflict);
    expect(calls).toEqual({ reads: 4, writes: 4 });
  });

  it("fail together, and those that come later do not", async () => {
    const { scripts, texts } = fakeScripts();
    const unaddressable = createUnaddressablePaths({
      ...deps,
      scripts: {
        ...scripts,
        read: (...call) => (texts.size === 0 ? Promise.reject(new Error("gone")) : scripts.read(...call)),
      },
    });
    const failed = await Promise.allSettled(numbers.map((n) => unaddressable.change(at(keys, `"${n}`), put("1"))));
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    texts.set(keys.value, "{}");
    expect(await unaddressable.change(at(keys, '"a'), put("1"))).toEqual({ outcome: "created" });
  });
});

describe("writes under odd keys of two projects", () => {
  it("do not wait for one another", async () => {
    const { scripts, texts } = fakeScripts();
    const [stuck, other] = [keysOf("stuck"), keysOf("other")];
    texts.set(stuck.value, "{}").set(other.value, "{}");
    const opened = Promise.withResolvers<void>();
    const unaddressable = createUnaddressablePaths({
      ...deps,
      scripts: {
        ...scripts,
        async read(keys, path) {
          if (keys.value === stuck.value) await opened.promise;
          return scripts.read(keys, path);
        },
      },
    });
    const waiting = numbers.map((n) => unaddressable.change(at(stuck, `"${n}`), put("1")));
    expect(await unaddressable.change(at(other, '"a'), put("1"))).toEqual({ outcome: "created" });
    opened.resolve();
    expect(await Promise.all(waiting)).toHaveLength(50);
  });
});
