// The scripts that read and write inside one document: what each one answers, and that the size
// they keep is that of the text.

import { describe, expect, it } from "vitest";
import { documentKeys } from "../../../dataplane/store/redis/keys.ts";
import { sha1 } from "../../../dataplane/store/redis/objects/objects.ts";
import { createDocumentScripts } from "../../../dataplane/store/redis/values/document-scripts.ts";
import { useScriptBench } from "../../support/redis/script-bench.ts";

const keys = documentKeys({ project: { namespace: "ns", name: "shop" }, rootKey: "flags" });
const bench = useScriptBench();
const scripts = () => createDocumentScripts(bench.redisClient);
const value = '{"o":{"k":1,"0":"zero"},"l":[1,[2],{"0":3}],"e":[],"s":"text"}';
const roomy = 1_000_000;

async function given(text = value): Promise<void> {
  expect(await scripts().initialise(keys, text)).toBe(true);
}

/** The whole document, after a check that its size is kept. */
async function whole(): Promise<string> {
  const { [keys.value]: text = "", [keys.size]: size } = await bench.contents();
  expect(Number(size)).toBe(Buffer.byteLength(text));
  return text;
}

const insert = (path: readonly string[], text = "9", maxBytes = roomy) =>
  scripts().insert({ keys, path, text, maxBytes });
const put = (path: readonly string[], text = "9", mayCreate = true, maxBytes = roomy) =>
  scripts().put({ keys, path, text, maxBytes, mayCreate });
const remove = (path: readonly string[]) => scripts().remove({ keys, path });

describe("initialise-document", () => {
  it("stores the first value and its size, and no second one", async () => {
    await given('"é"');
    expect(await scripts().initialise(keys, "2")).toBe(false);
    expect(await bench.contents()).toEqual({ [keys.value]: '"é"', [keys.size]: "4" });
  });
});

describe("read-value", () => {
  it("takes digits for a key under an object and for an index under an array", async () => {
    await given();
    expect(await scripts().read(keys, ["o", "0"])).toEqual({ outcome: "found", text: '"zero"' });
    expect(await scripts().read(keys, ["l", "0"])).toEqual({ outcome: "found", text: "1" });
    expect(await scripts().read(keys, ["l", "1", "0"])).toEqual({ outcome: "found", text: "2" });
    expect(await scripts().read(keys, ["l", "2", "0"])).toEqual({ outcome: "found", text: "3" });
    expect(await scripts().read(keys, [])).toEqual({ outcome: "found", text: value });
  });

  it("tells an empty list, which is found, from nothing", async () => {
    await given();
    expect(await scripts().read(keys, ["e"])).toEqual({ outcome: "found", text: "[]" });
    for (const path of [
      ["e", "0"],
      ["l", "3"],
      ["l", "9".repeat(30)],
      ["s", "0"],
      ["l", "0", "0"],
    ]) {
      expect(await scripts().read(keys, path)).toEqual({ outcome: "not_found" });
    }
  });

  it("tells a missing document", async () => {
    expect(await scripts().read(keys, ["0"])).toEqual({ outcome: "missing_document" });
    expect(await scripts().read(keys, ["0".repeat(30)])).toEqual({ outcome: "missing_document" });
  });
});

describe("insert-value", () => {
  it("adds a key, and an element at each place of an array", async () => {
    await given('{"o":{},"l":[]}');
    for (const path of [["o", "a"], ["o", "0"], ["l", "-"], ["l", "0"], ["l", "2"], ["b"]]) {
      expect(await insert(path, path.at(-1) === "-" ? '"é"' : "1")).toEqual({ outcome: "created" });
      await whole();
    }
    expect(await whole()).toBe('{"o":{"a":1,"0":1},"l":[1,"é",1],"b":1}');
  });

  it("appends to an array that has room to the byte, counts a comma only behind an element, and takes - for a key elsewhere", async () => {
    await given('{"o":{},"e":[],"s":"text","n":[[]]}');
    const size = async () => Buffer.byteLength(await whole());
    const roomFor = async (bytes: number) => (await size()) + bytes;
    expect(await insert(["e", "-"], "12", await roomFor(1))).toEqual({ outcome: "document_too_large" });
    expect(await insert(["e", "-"], "12", await roomFor(2))).toEqual({ outcome: "created" });
    expect(await insert(["e", "-"], "34", await roomFor(2))).toEqual({ outcome: "document_too_large" });
    expect(await insert(["e", "-"], "34", await roomFor(3))).toEqual({ outcome: "created" });
    expect(await insert(["n", "0", "-"], "5")).toEqual({ outcome: "created" });
    expect(await insert(["o", "-"], "6")).toEqual({ outcome: "created" });
    expect(await insert(["o", "-"], "6")).toEqual({ outcome: "key_exists" });
    expect(await insert(["s", "-"], "7")).toEqual({ outcome: "not_a_container" });
    expect(await insert(["x", "-"], "7")).toEqual({ outcome: "parent_not_found" });
    expect(await whole()).toBe('{"o":{"-":6},"e":[12,34],"s":"text","n":[[5]]}');
  });

  it("answers each refusal and changes nothing", async () => {
    await given();
    expect(await insert(["o", "k"])).toEqual({ outcome: "key_exists" });
    expect(await insert(["o", "0"])).toEqual({ outcome: "key_exists" });
    expect(await insert(["l", "4"])).toEqual({ outcome: "index_out_of_range", length: 3 });
    expect(await insert(["l", "x"])).toEqual({ outcome: "invalid_index" });
    expect(await insert(["none", "k"])).toEqual({ outcome: "parent_not_found" });
    expect(await insert(["l", "7", "k"])).toEqual({ outcome: "parent_not_found" });
    expect(await insert(["l", "9".repeat(12), "k"])).toEqual({ outcome: "parent_not_found" });
    expect(await insert(["s", "k"])).toEqual({ outcome: "not_a_container" });
    expect(await insert(["s", "0", "k"])).toEqual({ outcome: "not_a_container" });
    expect(await insert(["new"], "1", Buffer.byteLength(value) + 7)).toEqual({ outcome: "document_too_large" });
    expect(await whole()).toBe(value);
    expect(await insert(["new"], "1", Buffer.byteLength(value) + 8)).toEqual({ outcome: "created" });
  });

  it("tells a missing document and leaves nothing", async () => {
    expect(await insert(["a"])).toEqual({ outcome: "missing_document" });
    expect(await insert(["a", "-"])).toEqual({ outcome: "missing_document" });
    expect(await insert(["a", "0", "b"])).toEqual({ outcome: "missing_document" });
    expect(await bench.contents()).toEqual({});
  });
});

describe("put-value", () => {
  it("replaces the whole, a key, an element, and adds a key", async () => {
    await given();
    expect(await put(["o", "k"], '"longer"')).toEqual({ outcome: "replaced" });
    expect(await put(["o", "0"], "0", false)).toEqual({ outcome: "replaced" });
    expect(await put(["l", "1"], "{}")).toEqual({ outcome: "replaced" });
    expect(await put(["l", "1", "0"], "4")).toEqual({ outcome: "created" });
    expect(await whole()).toBe('{"o":{"k":"longer","0":0},"l":[1,{"0":4},{"0":3}],"e":[],"s":"text"}');
    expect(await put([], "[]")).toEqual({ outcome: "replaced" });
    expect(await whole()).toBe("[]");
  });

  it("answers each refusal and changes nothing", async () => {
    await given();
    expect(await put(["o", "new"], "1", false)).toEqual({ outcome: "create_refused" });
    expect(await put(["l", "3"])).toEqual({ outcome: "index_not_found", length: 3 });
    expect(await put(["l", "-"])).toEqual({ outcome: "invalid_index" });
    expect(await put(["none", "k"])).toEqual({ outcome: "parent_not_found" });
    expect(await put(["s", "k"])).toEqual({ outcome: "not_a_container" });
    expect(await put([], value, true, Buffer.byteLength(value) - 1)).toEqual({ outcome: "document_too_large" });
    expect(await put(["s"], '"texts"', true, Buffer.byteLength(value))).toEqual({ outcome: "document_too_large" });
    expect(await whole()).toBe(value);
  });

  it("tells a missing document and leaves nothing", async () => {
    expect(await put([])).toEqual({ outcome: "missing_document" });
    expect(await put(["a"])).toEqual({ outcome: "missing_document" });
    expect(await bench.contents()).toEqual({});
  });
});

describe("remove-value", () => {
  it("takes out keys and elements, the last one of a container too", async () => {
    await given('{"o":{"k":1},"l":["é",[2]],"0":"é"}');
    for (const path of [["o", "k"], ["l", "0"], ["l", "0", "0"], ["l", "0"], ["0"], ["l"], ["o"]]) {
      expect(await remove(path)).toEqual({ outcome: "removed" });
      await whole();
    }
    expect(await whole()).toBe("{}");
  });

  it("answers each refusal and changes nothing", async () => {
    expect(await remove(["a"])).toEqual({ outcome: "missing_document" });
    await given();
    expect(await remove(["none"])).toEqual({ outcome: "not_found" });
    expect(await remove(["none", "k"])).toEqual({ outcome: "not_found" });
    expect(await remove(["s", "k"])).toEqual({ outcome: "not_found" });
    expect(await remove(["l", "3"])).toEqual({ outcome: "not_found" });
    expect(await remove(["l", "-"])).toEqual({ outcome: "invalid_index" });
    expect(await whole()).toBe(value);
  });
});

describe("replace-container", () => {
  const replace = (path: readonly string[], before: string, text: string, maxBytes = roomy) =>
    scripts().replaceContainer({ keys, path, previous: sha1(before), text, shrinks: false, maxBytes });

  it("replaces a container, or the whole, that still is what was read", async () => {
    await given();
    expect(await replace(["l", "2"], '{"0":3}', '{"\\"":4}')).toEqual({ outcome: "done" });
    expect(await replace(["e"], "[]", "[[]]")).toEqual({ outcome: "done" });
    expect(await whole()).toBe('{"o":{"k":1,"0":"zero"},"l":[1,[2],{"\\"":4}],"e":[[]],"s":"text"}');
    expect(await replace([], await whole(), "{}")).toEqual({ outcome: "done" });
    expect(await whole()).toBe("{}");
  });

  it("refuses one that was changed or is gone, and one that grew too large", async () => {
    expect(await replace(["o"], "{}", "{}")).toEqual({ outcome: "conflict" });
    await given();
    expect(await replace(["o"], "{}", "{}")).toEqual({ outcome: "conflict" });
    expect(await replace(["none"], "{}", "{}")).toEqual({ outcome: "conflict" });
    expect(await replace(["l", "9"], "{}", "{}")).toEqual({ outcome: "conflict" });
    expect(await replace(["e"], "[]", "[1]", Buffer.byteLength(value))).toEqual({ outcome: "document_too_large" });
    expect(await whole()).toBe(value);
  });
});

describe("the size of a document", () => {
  it("is counted anew when it was lost", async () => {
    for (const write of [() => insert(["new"]), () => put(["s"]), () => remove(["o", "k"])]) {
      await bench.client.flushall();
      await given();
      await bench.client.del(keys.size);
      await write();
      await whole();
    }
  });
});

describe("a document's key of a wrong type", () => {
  it("fails every script and stays as it is", async () => {
    await bench.client.set(keys.value, "foreign");
    const calls: readonly (() => Promise<unknown>)[] = [
      () => scripts().initialise(keys, "{}"),
      () => scripts().read(keys, ["0"]),
      () => insert(["a"]),
      () => put(["a"]),
      () => put([]),
      () => remove(["a"]),
      () => scripts().replaceContainer({ keys, path: [], previous: "", text: "{}", shrinks: true, maxBytes: roomy }),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ name: "RedisFault" });
      expect(await bench.contents()).toEqual({ [keys.value]: "foreign" });
    }
  });
});
