// The promises of documents: one JSON value per root key, read and written at paths, each call one
// atomic step. `describeDocumentStore` also runs the refusals (document-refusals.ts) and the
// expectations (expectations.ts).

import { describe, expect, it } from "vitest";
import { purgeDocument } from "../../../dataplane/config/purge-steps.ts";
import type { Path } from "../../../dataplane/store/ports/refs.ts";
import { normalised } from "../../support/store/same-json.ts";
import { describeDocumentRefusals } from "./document-refusals.ts";
import { documentOf, textAt } from "./document-steps.ts";
import { describeExpectations } from "./expectations.ts";
import { freshDocument, freshProject, type MakeStore, type StoreUnderTest, twoReplicas, useStore } from "./fixture.ts";
import { unusualKeys } from "./unusual-keys.ts";

const roomy = { maxBytes: 1024 * 1024 };
const mayCreate = { ...roomy, mayCreate: true };
const mayReplace = { ...roomy, mayCreate: false };
type Subject = () => StoreUnderTest;

export function describeDocumentStore(name: string, make: MakeStore): void {
  describe(`${name}: documents`, () => {
    const subject = useStore(make);
    describeWholeValues(subject);
    describeObjects(subject);
    describeArrays(subject);
    describeUnusualKeys(subject);
    describeConcurrency(subject);
  });
  describeDocumentRefusals(name, make);
  describeExpectations(name, make);
}

function describeWholeValues(subject: Subject): void {
  const values = [
    "{}",
    "[]",
    "null",
    "false",
    "0",
    "1.0",
    "18446744073709551615",
    "-9223372036854775808",
    '""',
    '"a\\u0000\\u0001\\n\\"\\\\/\u007f\u2028é😀"',
    '{"b":1,"10":{"9":2,"1":3},"a":[1.0,null,"x"],"":{}}',
  ];

  for (const text of values) {
    it(`stores the whole value ${JSON.stringify(text)} and returns it as it was sent`, async () => {
      const { store } = subject();
      const document = await documentOf(store, text);
      expect(await textAt(store, document)).toBe(text);
      expect(await store.putAt(document, [], '{"other":1}', mayReplace)).toEqual({
        outcome: "replaced",
        text: '{"other":1}',
      });
      expect(await store.putAt(document, [], text, mayReplace)).toEqual({ outcome: "replaced", text });
      expect(await textAt(store, document)).toBe(text);
    });
  }

  it("initialises once", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"a":1}');
    expect(await store.initialise(document, '{"a":2}')).toBe(false);
    expect(await textAt(store, document)).toBe('{"a":1}');
  });

  it("initialises once when many try at the same time", async () => {
    const stores = await twoReplicas(subject());
    const document = freshDocument();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => stores[n % 2 === 0 ? 0 : 1].initialise(document, String(n))),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await textAt(stores[1], document)).toBe(String(answers.indexOf(true)));
  });

  it("holds a document that is null apart from one that is missing", async () => {
    const { store } = subject();
    const document = await documentOf(store, "null");
    expect(await store.readAt(document, [])).toEqual({ outcome: "found", text: "null" });
    expect(await store.initialise(document, "1")).toBe(false);
    expect(await store.readAt(document, ["a"])).toEqual({ outcome: "not_found" });
  });

  it("purges a document, and only that one", async () => {
    const { store } = subject();
    const project = freshProject();
    const [flags, flag, other] = [
      { project, rootKey: "flags" },
      { project, rootKey: "flag" },
      { project: { ...project, name: "shop-flags" }, rootKey: "flags" },
    ] as const;
    for (const document of [flags, flag, other]) await store.initialise(document, '{"a":1}');
    expect(await purgeDocument(store, flags)).toBe(true);
    expect(await purgeDocument(store, flags)).toBe(true);
    expect(await store.readAt(flags, [])).toEqual({ outcome: "missing_document" });
    expect(await textAt(store, flag)).toBe('{"a":1}');
    expect(await textAt(store, other)).toBe('{"a":1}');
    expect(await store.initialise(flags, "2")).toBe(true);
  });

  it("takes no document that was stored after the one that a purge named", async () => {
    const { store } = subject();
    const document = freshDocument();
    expect(await store.documentIdentity(document)).toBeUndefined();
    await store.initialise(document, '{"a":1}');
    const identity = (await store.documentIdentity(document)) ?? "";
    expect(await store.documentIdentity(document)).toBe(identity);
    await store.putAt(document, ["a"], "2", { maxBytes: 100, mayCreate: true });
    expect(await store.purgeDocument(document, identity)).toBe("done");
    expect(await store.purgeDocument(document, identity)).toBe("gone");
    await store.initialise(document, '{"a":1}');
    expect(await store.purgeDocument(document, identity)).toBe("gone");
    expect(await textAt(store, document)).toBe('{"a":1}');
    expect(await store.documentIdentity(document)).not.toBe(identity);
    expect(await store.purgeDocument(document, identity)).toBe("gone");
    expect(await textAt(store, document)).toBe('{"a":1}');
  });
}

function describeObjects(subject: Subject): void {
  it("adds a key, and returns the value as it is read then", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"a":{}}');
    expect(await store.insertAt(document, ["a", "b"], '{"c":[1.0,null]}', roomy)).toEqual({
      outcome: "created",
      text: '{"c":[1.0,null]}',
    });
    expect(await textAt(store, document, ["a", "b"])).toBe('{"c":[1.0,null]}');
    expect(await textAt(store, document, ["a", "b", "c", "0"])).toBe("1.0");
    expect(await textAt(store, document)).toBe('{"a":{"b":{"c":[1.0,null]}}}');
  });

  it("adds new keys after the others", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"b":1}');
    await store.insertAt(document, ["10"], "2", roomy);
    await store.insertAt(document, ["a"], "3", roomy);
    await store.putAt(document, ["1"], "4", mayCreate);
    expect(await textAt(store, document)).toBe('{"b":1,"10":2,"a":3,"1":4}');
  });

  it("replaces a value in its place, and says whether it was there", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"a":1,"b":2}');
    expect(await store.putAt(document, ["a"], "[1]", mayReplace)).toEqual({ outcome: "replaced", text: "[1]" });
    expect(await store.putAt(document, ["c"], "3", mayCreate)).toEqual({ outcome: "created", text: "3" });
    expect(await store.putAt(document, ["c"], "4", mayCreate)).toEqual({ outcome: "replaced", text: "4" });
    expect(await textAt(store, document)).toBe('{"a":[1],"b":2,"c":4}');
  });

  it("takes null for a value like any other", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"a":null,"l":[null]}');
    expect(await textAt(store, document, ["a"])).toBe("null");
    expect(await store.insertAt(document, ["a"], "1", roomy)).toEqual({ outcome: "key_exists" });
    expect(await store.insertAt(document, ["b"], "null", roomy)).toEqual({ outcome: "created", text: "null" });
    expect(await textAt(store, document, ["b"])).toBe("null");
    expect(await store.putAt(document, ["a"], "1", mayReplace)).toEqual({ outcome: "replaced", text: "1" });
    expect(await store.insertAt(document, ["l", "0"], "null", roomy)).toEqual({ outcome: "created", text: "null" });
    expect(await store.putAt(document, [], "null", mayReplace)).toEqual({ outcome: "replaced", text: "null" });
    expect(await textAt(store, document)).toBe("null");
  });

  it("removes a key once, and keeps its siblings", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"a":1,"b":{"x":1,"y":null,"z":3},"c":3}');
    expect(await store.removeAt(document, ["b", "y"])).toEqual({ outcome: "removed" });
    expect(await store.removeAt(document, ["b", "y"])).toEqual({ outcome: "not_found" });
    expect(await store.removeAt(document, ["a"])).toEqual({ outcome: "removed" });
    expect(normalised(await textAt(store, document))).toBe('{"b":{"x":1,"z":3},"c":3}');
    expect(await store.removeAt(document, ["b"])).toEqual({ outcome: "removed" });
    expect(await store.removeAt(document, ["c"])).toEqual({ outcome: "removed" });
    expect(await textAt(store, document)).toBe("{}");
  });
}

function describeArrays(subject: Subject): void {
  it("inserts at an index and moves later elements up", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"l":["a","b"]}');
    expect(await store.insertAt(document, ["l", "0"], '"first"', roomy)).toEqual({
      outcome: "created",
      text: '"first"',
    });
    await store.insertAt(document, ["l", "2"], '["nested"]', roomy);
    await store.insertAt(document, ["l", "4"], '"last"', roomy);
    await store.insertAt(document, ["l", "-"], '"end"', roomy);
    expect(await textAt(store, document, ["l"])).toBe('["first","a",["nested"],"b","last","end"]');
  });

  it("appends to an empty array by index 0 and by -", async () => {
    const { store } = subject();
    const document = await documentOf(store, "[[],[]]");
    await store.insertAt(document, ["0", "0"], "1", roomy);
    await store.insertAt(document, ["1", "-"], "2", roomy);
    await store.insertAt(document, ["-"], "3", roomy);
    expect(await textAt(store, document)).toBe("[[1],[2],3]");
  });

  it("removes an element and moves later ones down", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"l":[0,1,2,3]}');
    expect(await store.removeAt(document, ["l", "1"])).toEqual({ outcome: "removed" });
    expect(await store.removeAt(document, ["l", "2"])).toEqual({ outcome: "removed" });
    expect(await store.removeAt(document, ["l", "2"])).toEqual({ outcome: "not_found" });
    expect(await store.removeAt(document, ["l", "0"])).toEqual({ outcome: "removed" });
    expect(await textAt(store, document)).toBe('{"l":[2]}');
    await store.removeAt(document, ["l", "0"]);
    expect(await textAt(store, document)).toBe('{"l":[]}');
  });

  it("replaces an element in its place, with or without the right to create", async () => {
    const { store } = subject();
    const document = await documentOf(store, "[[1,2],[3]]");
    expect(await store.putAt(document, ["0", "1"], '{"a":1}', mayReplace)).toEqual({
      outcome: "replaced",
      text: '{"a":1}',
    });
    expect(await store.putAt(document, ["1"], "null", mayCreate)).toEqual({ outcome: "replaced", text: "null" });
    expect(await textAt(store, document)).toBe('[[1,{"a":1}],null]');
  });

  it("lets the container decide at every depth whether digits are a key or an index", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"0":[{"0":["x",{"1":"deep"}],"-":"dash","00":"zeros"}],"1":"key"}');
    expect(await textAt(store, document, ["0", "0", "0", "0"])).toBe('"x"');
    expect(await textAt(store, document, ["0", "0", "0", "1", "1"])).toBe('"deep"');
    expect(await textAt(store, document, ["0", "0", "-"])).toBe('"dash"');
    expect(await textAt(store, document, ["0", "0", "00"])).toBe('"zeros"');
    expect(await store.insertAt(document, ["0", "0", "1"], '"new key"', roomy)).toMatchObject({ outcome: "created" });
    expect(await store.insertAt(document, ["0", "0", "0", "1"], '"shifts"', roomy)).toMatchObject({
      outcome: "created",
    });
    expect(await store.putAt(document, ["0", "0", "0", "2", "1"], '"put"', mayReplace)).toMatchObject({
      outcome: "replaced",
    });
    expect(await store.putAt(document, ["0", "0", "0", "2", "7"], "7", mayCreate)).toMatchObject({
      outcome: "created",
    });
    expect(await store.removeAt(document, ["0", "0", "0", "0"])).toEqual({ outcome: "removed" });
    expect(await textAt(store, document)).toBe(
      '{"0":[{"0":["shifts",{"1":"put","7":7}],"-":"dash","00":"zeros","1":"new key"}],"1":"key"}',
    );
  });
}

function describeUnusualKeys(subject: Subject): void {
  for (const key of unusualKeys) {
    it(`adds, reads, replaces and removes the key ${JSON.stringify(key)}, at the top and below`, async () => {
      const { store } = subject();
      for (const parent of [[], [key], [key, key], ["l", "0", key]]) {
        const document = await documentOf(store, startingWith(parent));
        const path = [...parent, key];
        expect(await store.readAt(document, path)).toEqual({ outcome: "not_found" });
        expect(await store.removeAt(document, path)).toEqual({ outcome: "not_found" });
        expect(await store.putAt(document, path, "0", mayReplace)).toEqual({ outcome: "create_refused" });
        expect(await store.insertAt(document, path, '{"v":1.0}', roomy)).toEqual({
          outcome: "created",
          text: '{"v":1.0}',
        });
        expect(await store.insertAt(document, path, "2", roomy)).toEqual({ outcome: "key_exists" });
        expect(await textAt(store, document, path)).toBe('{"v":1.0}');
        expect(await textAt(store, document, [...path, "v"])).toBe("1.0");
        expect(await store.putAt(document, path, '"put"', mayReplace)).toEqual({ outcome: "replaced", text: '"put"' });
        expect(await textAt(store, document, parent)).toBe(`{"z":0,${JSON.stringify(key)}:"put"}`);
        expect(await store.removeAt(document, path)).toEqual({ outcome: "removed" });
        expect(await textAt(store, document)).toBe(startingWith(parent));
        expect(await store.putAt(document, path, "[]", mayCreate)).toEqual({ outcome: "created", text: "[]" });
        expect(await store.insertAt(document, [...path, "-"], "3", roomy)).toEqual({ outcome: "created", text: "3" });
        expect(await textAt(store, document, parent)).toBe(`{"z":0,${JSON.stringify(key)}:[3]}`);
      }
    });
  }

  /** `{"z":0}` inside objects and, for digits, arrays along `parent`. */
  function startingWith(parent: Path): string {
    return parent.reduceRight(
      (inner, segment, at) =>
        segment === "0" && parent[at - 1] === "l" ? `[${inner}]` : `{${JSON.stringify(segment)}:${inner}}`,
      '{"z":0}',
    );
  }

  it("tells odd keys apart that stand side by side", async () => {
    const { store } = subject();
    const document = await documentOf(store, "{}");
    for (const [n, key] of unusualKeys.entries()) {
      expect(await store.insertAt(document, [key], String(n), roomy)).toEqual({ outcome: "created", text: String(n) });
    }
    for (const [n, key] of unusualKeys.entries())
      expect([key, await textAt(store, document, [key])]).toEqual([key, String(n)]);
    const whole = `{${unusualKeys.map((key, n) => `${JSON.stringify(key)}:${n}`).join(",")}}`;
    expect(await textAt(store, document)).toBe(whole);
  });

  it("does not find members that objects, arrays and strings inherit", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"o":{},"l":[1],"s":"text","n":1}');
    for (const parent of ["o", "l", "s", "n"]) {
      for (const key of ["constructor", "__proto__", "length", "toString", "0x0", "1.0", " 0", "+0", "1e0"]) {
        expect(await store.readAt(document, [parent, key])).toEqual({ outcome: "not_found" });
      }
    }
  });

  it("carries out a segment of 1 KiB and a path of 60 segments", async () => {
    const { store } = subject();
    const document = await documentOf(store, "{}");
    const long = "é".repeat(512);
    await store.insertAt(document, [long], "{}", roomy);
    await store.insertAt(document, [long, long], "1", roomy);
    expect(await textAt(store, document, [long, long])).toBe("1");
    const path = Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? `k"${n}` : "0"));
    const deep = path.reduceRight(
      (inner, segment, n) => (n % 2 === 0 ? `{${JSON.stringify(segment)}:${inner}}` : `[${inner}]`),
      '"x"',
    );
    await store.putAt(document, [], deep, mayReplace);
    expect(await textAt(store, document, path)).toBe('"x"');
    expect(await store.putAt(document, path, '"y"', mayReplace)).toEqual({ outcome: "replaced", text: '"y"' });
    expect(await textAt(store, document)).toBe(deep.replace('"x"', '"y"'));
  });
}

function describeConcurrency(subject: Subject): void {
  it("keeps 1,000 concurrent inserts into one array, made from two replicas", async () => {
    const stores = await twoReplicas(subject());
    const document = await documentOf(stores[0], '{"l":[]}');
    const inserts = Array.from({ length: 1_000 }, (_, n) =>
      stores[n % 2 === 0 ? 0 : 1].insertAt(document, ["l", n % 3 === 0 ? "0" : "-"], String(n), roomy),
    );
    for (const { outcome } of await Promise.all(inserts)) expect(outcome).toBe("created");
    const elements = JSON.parse(await textAt(stores[1], document, ["l"])) as readonly number[];
    expect([...elements].sort((x, y) => x - y)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  });

  it("keeps concurrent inserts below keys that no path language can name", async () => {
    const stores = await twoReplicas(subject());
    const document = await documentOf(stores[0], '{"a\\\\\\"\'b":[]}');
    const inserts = Array.from({ length: 100 }, (_, n) =>
      stores[n % 2 === 0 ? 0 : 1].insertAt(document, ["a\\\"'b", "-"], String(n), roomy),
    );
    for (const { outcome } of await Promise.all(inserts)) expect(outcome).toBe("created");
    const elements = JSON.parse(await textAt(stores[1], document, ["a\\\"'b"])) as readonly number[];
    expect([...elements].sort((x, y) => x - y)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  it("lets one of many concurrent creators of a key win", async () => {
    const stores = await twoReplicas(subject());
    const document = await documentOf(stores[0], "{}");
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => stores[n % 2 === 0 ? 0 : 1].insertAt(document, ["k"], String(n), roomy)),
    );
    expect(answers.filter(({ outcome }) => outcome === "created")).toHaveLength(1);
    expect(answers.filter(({ outcome }) => outcome === "key_exists")).toHaveLength(49);
    expect(await textAt(stores[1], document, ["k"])).toBe(
      String(answers.findIndex(({ outcome }) => outcome === "created")),
    );
  });

  it("keeps every key of concurrent puts and removes of different keys", async () => {
    const stores = await twoReplicas(subject());
    const document = await documentOf(
      stores[0],
      `{${Array.from({ length: 100 }, (_, n) => `"old${n}":${n}`).join(",")}}`,
    );
    await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const store = stores[n % 2 === 0 ? 0 : 1];
        await Promise.all([
          store.putAt(document, [`new${n}`], String(n), mayCreate),
          store.removeAt(document, [`old${n}`]),
        ]);
      }),
    );
    const value = JSON.parse(await textAt(stores[1], document)) as Record<string, unknown>;
    expect(value).toEqual(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`new${n}`, n])));
  });
}
