import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { insertAt, isTooDeep, type Path, putAt, readAt, removeAt, withoutPath } from "../../../../core/json/splice.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

const maxDepth = 64;
const document =
  '{"o":{"k":1,"0":"zero"},"a":[1.0,[2],{"x":null}],"s":"text","n":null,"":{"":1},"a/b":9007199254740993}';

describe("a read", () => {
  const found: Readonly<Record<string, readonly [Path, string]>> = {
    "finds the whole value at the empty path": [[], document],
    "takes 0 for a key below an object": [["o", "0"], '"zero"'],
    "takes 0 for an index below an array": [["a", "0"], "1.0"],
    "goes through arrays and objects": [["a", "2", "x"], "null"],
    "finds a stored null": [["n"], "null"],
    "finds empty keys": [["", ""], "1"],
    "keeps a number's text": [["a/b"], "9007199254740993"],
  };
  for (const [behaviour, [path, text]] of Object.entries(found)) {
    it(behaviour, () => expect(readAt(document, path)).toEqual({ outcome: "found", text }));
  }

  it("finds nothing at missing keys, past an array's end, at what is no index and below a scalar", () => {
    const missing = [
      ["x"],
      ["o", "x"],
      ["a", "3"],
      ["a", "01"],
      ["a", "-"],
      ["a", "-1"],
      ["a", "x"],
      ["s", "0"],
      ["n", "a", "b"],
    ];
    for (const path of missing) expect(readAt(document, path)).toEqual({ outcome: "not_found" });
  });
});

describe("an insert", () => {
  it("adds a key at the end of an object, also of an empty one", () => {
    expect(insertAt('{"a":1}', ["b"], "[]", maxDepth)).toEqual({ outcome: "created", document: '{"a":1,"b":[]}' });
    expect(insertAt("{}", ['a"\\\u0001'], "1", maxDepth)).toEqual({
      outcome: "created",
      document: '{"a\\"\\\\\\u0001":1}',
    });
  });

  it("moves later elements up, and takes the length or - as the end", () => {
    const at = (index: string) => insertAt('{"l":[1,2]}', ["l", index], "0", maxDepth);
    expect(at("0")).toEqual({ outcome: "created", document: '{"l":[0,1,2]}' });
    expect(at("1")).toEqual({ outcome: "created", document: '{"l":[1,0,2]}' });
    expect(at("2")).toEqual({ outcome: "created", document: '{"l":[1,2,0]}' });
    expect(at("-")).toEqual({ outcome: "created", document: '{"l":[1,2,0]}' });
    expect(insertAt("[]", ["0"], "1", maxDepth)).toEqual({ outcome: "created", document: "[1]" });
    expect(insertAt("[[]]", ["0", "-"], "1", maxDepth)).toEqual({ outcome: "created", document: "[[1]]" });
  });

  it("takes - for a key below an object", () => {
    expect(insertAt("{}", ["-"], "1", maxDepth)).toEqual({ outcome: "created", document: '{"-":1}' });
  });

  it("is refused where the key exists, past the end, and where the path leads nowhere", () => {
    const refusal = (path: Path) => insertAt(document, path, "1", maxDepth);
    expect(refusal(["o", "k"])).toEqual({ outcome: "key_exists" });
    expect(refusal(["a", "4"])).toEqual({ outcome: "index_out_of_range", length: 3 });
    expect(refusal(["a", "9".repeat(400)])).toEqual({ outcome: "index_out_of_range", length: 3 });
    for (const last of ["x", "", "-1", "01", "1.0", "1e0", "+1", " 1"]) {
      expect(refusal(["a", last])).toEqual({ outcome: "invalid_index" });
    }
    for (const path of [
      ["x", "y"],
      ["x", "y", "z"],
      ["a", "3", "y"],
      ["a", "x", "y"],
      ["a", "-", "y"],
    ]) {
      expect(refusal(path)).toEqual({ outcome: "parent_not_found" });
    }
    for (const path of [
      ["s", "y"],
      ["n", "0"],
      ["s", "y", "z"],
      ["a", "0", "0"],
    ]) {
      expect(refusal(path)).toEqual({ outcome: "not_a_container" });
    }
  });
});

describe("a put", () => {
  const options = { mayCreate: true, maxDepth };

  it("replaces in place, a key, an element or the whole value", () => {
    expect(putAt('{"a":1,"b":[1,{"c":2}],"d":3}', ["b", "1", "c"], "[]", options)).toEqual({
      outcome: "replaced",
      document: '{"a":1,"b":[1,{"c":[]}],"d":3}',
    });
    expect(putAt(document, [], "1.0", options)).toEqual({ outcome: "replaced", document: "1.0" });
  });

  it("adds a missing last key only when it may", () => {
    expect(putAt('{"a":1}', ["b"], "2", options)).toEqual({ outcome: "created", document: '{"a":1,"b":2}' });
    expect(putAt('{"a":1}', ["b"], "2", { mayCreate: false, maxDepth })).toEqual({ outcome: "create_refused" });
    expect(putAt('{"a":1}', ["a"], "2", { mayCreate: false, maxDepth })).toMatchObject({ outcome: "replaced" });
  });

  it("never adds an element", () => {
    expect(putAt("[1]", ["1"], "2", options)).toEqual({ outcome: "index_not_found", length: 1 });
    expect(putAt("[]", ["0"], "2", options)).toEqual({ outcome: "index_not_found", length: 0 });
    expect(putAt("[1]", ["-"], "2", options)).toEqual({ outcome: "invalid_index" });
  });

  it("is refused where the path leads nowhere", () => {
    expect(putAt(document, ["x", "y"], "1", options)).toEqual({ outcome: "parent_not_found" });
    expect(putAt(document, ["s", "y"], "1", options)).toEqual({ outcome: "not_a_container" });
  });
});

describe("a removal", () => {
  it("takes the comma along, at the start, in the middle, at the end and alone", () => {
    const without = (text: string, ...path: string[]) => removeAt(text, path);
    expect(without('{"a":1,"b":2,"c":3}', "a")).toEqual({ outcome: "removed", document: '{"b":2,"c":3}' });
    expect(without('{"a":1,"b":2,"c":3}', "b")).toEqual({ outcome: "removed", document: '{"a":1,"c":3}' });
    expect(without('{"a":1,"b":2,"c":3}', "c")).toEqual({ outcome: "removed", document: '{"a":1,"b":2}' });
    expect(without('{"a":1}', "a")).toEqual({ outcome: "removed", document: "{}" });
    expect(without("[[1],2]", "0", "0")).toEqual({ outcome: "removed", document: "[[],2]" });
    expect(without('[{"a":{}},2]', "0", "a")).toEqual({ outcome: "removed", document: "[{},2]" });
  });

  it("finds nothing at whatever is missing, below a scalar too, and refuses what can't be an index", () => {
    for (const path of [["x"], ["x", "y"], ["a", "3"], ["a", "3", "y"], ["s", "y"], ["s", "y", "z"], ["a", "x", "y"]]) {
      expect(removeAt(document, path)).toEqual({ outcome: "not_found" });
    }
    for (const last of ["x", "-", "01"]) expect(removeAt(document, ["a", last])).toEqual({ outcome: "invalid_index" });
  });
});

describe("the depth", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

  it("counts the path and the value together, before anything is looked up", () => {
    expect(insertAt("{}", ["a"], nested(63), maxDepth)).toMatchObject({ outcome: "created" });
    expect(insertAt("{}", ["a"], nested(64), maxDepth)).toEqual({ outcome: "too_deep" });
    expect(putAt("{}", [], nested(64), { mayCreate: false, maxDepth })).toMatchObject({ outcome: "replaced" });
    expect(putAt("{}", [], nested(65), { mayCreate: false, maxDepth })).toEqual({ outcome: "too_deep" });
    expect(
      insertAt(
        "1",
        Array.from({ length: 65 }, () => "a"),
        "1",
        maxDepth,
      ),
    ).toEqual({ outcome: "too_deep" });
    expect(isTooDeep(["a"], '"[[[["', 1)).toBe(false);
  });
});

// ------------------------------------------------------------------- the same rules, on parsed
// values and slowly

type Model = null | boolean | number | string | Model[] | Map<string, Model>;

function modelOf(text: string): Model {
  const convert = (value: unknown): Model => {
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== "object" || value === null) return value as Model;
    return new Map(Object.entries(value).map(([name, inner]) => [name, convert(inner)]));
  };
  return convert(JSON.parse(text));
}

const isIndex = (segment: string) => String(Number.parseInt(segment, 10)) === segment && !segment.startsWith("-");

function childOf(container: Model, segment: string): Model | undefined {
  if (container instanceof Map) return container.get(segment);
  return Array.isArray(container) && isIndex(segment) ? container[Number(segment)] : undefined;
}

type Kind = "insert" | "put" | "remove";

function parentIn(root: Model, path: Path): Map<string, Model> | Model[] | "parent_not_found" | "not_a_container" {
  let parent = root;
  for (const segment of path.slice(0, -1)) {
    const next = childOf(parent, segment);
    if (next === undefined) return isContainer(parent) ? "parent_not_found" : "not_a_container";
    parent = next;
  }
  return isContainer(parent) ? parent : "not_a_container";
}

function isContainer(value: Model): value is Map<string, Model> | Model[] {
  return value instanceof Map || Array.isArray(value);
}

/** Applies a write to the model in place and says what the outcome must be. */
function apply(kind: Kind, root: Model, path: Path, value: Model): string {
  const parent = parentIn(root, path);
  const last = path.at(-1) ?? "";
  if (typeof parent === "string") return kind === "remove" ? "not_found" : parent;
  if (parent instanceof Map) return applyToMap(kind, parent, last, value);
  if (kind === "insert" && last === "-") return inserted(parent, parent.length, value);
  if (!isIndex(last)) return "invalid_index";
  return kind === "insert" ? inserted(parent, Number(last), value) : changed(kind, parent, Number(last), value);
}

function applyToMap(kind: Kind, parent: Map<string, Model>, key: string, value: Model): string {
  const known = parent.has(key);
  if (kind === "remove") return parent.delete(key) ? "removed" : "not_found";
  if (kind === "insert" && known) return "key_exists";
  parent.set(key, value);
  return known ? "replaced" : "created";
}

function inserted(parent: Model[], index: number, value: Model): string {
  if (index > parent.length) return "index_out_of_range";
  parent.splice(index, 0, value);
  return "created";
}

function changed(kind: "put" | "remove", parent: Model[], index: number, value: Model): string {
  const isPut = kind === "put";
  if (index >= parent.length) return isPut ? "index_not_found" : "not_found";
  parent.splice(index, 1, ...(isPut ? [value] : []));
  return isPut ? "replaced" : "removed";
}

describe("any sequence of writes", () => {
  const keys = ["a", "b", "k0", 'q"', "b\\s", ""];
  // Digit-like keys would be moved to the front by JSON.parse, of which the model is made: the
  // tables above have them.
  const segments = fc.constantFrom(...keys, "0", "1", "2", "7", "-", "01");
  const values = fc.constantFrom(
    '"}]{,"',
    "[]",
    "{}",
    "[[1],[]]",
    '{"a":{"b":[1,2,3]},"q\\"":[]}',
    "null",
    "-1.5",
    '"\\\\"',
  );
  const writes = fc.record({
    kind: fc.constantFrom<Kind[]>("insert", "insert", "put", "put", "remove"),
    path: fc.array(segments, { minLength: 1, maxLength: 4 }),
    value: values,
  });

  it("ends in the same document and the same answers as on parsed values", () => {
    const isDigits = (segment: string | undefined) => /^[0-9]/.test(segment ?? "");
    fc.assert(
      fc.property(values, fc.array(writes, { maxLength: 25 }), (start, steps) => {
        let text: string = start;
        const model = { root: modelOf(start) };
        for (const { kind, path, value } of steps) {
          const into = readAt(text, path.slice(0, -1));
          if (into.outcome === "found" && into.text.startsWith("{") && isDigits(path.at(-1))) continue;
          const result = spliced(kind, text, path, value);
          expect(result.outcome).toBe(apply(kind, model.root, path, modelOf(value)));
          if ("document" in result) text = result.document;
          expect(modelOf(text)).toEqual(model.root);
          expect([...namesIn(modelOf(text))]).toEqual([...namesIn(model.root)]);
        }
      }),
      { numRuns: countForTier(400) },
    );
  });

  function spliced(kind: Kind, text: string, path: Path, value: string) {
    if (kind === "insert") return insertAt(text, path, value, maxDepth);
    return kind === "put" ? putAt(text, path, value, { mayCreate: true, maxDepth }) : removeAt(text, path);
  }

  /** Names in order, which toEqual does not compare. */
  function* namesIn(model: Model): Generator<string> {
    if (Array.isArray(model)) for (const inner of model) yield* namesIn(inner);
    if (!(model instanceof Map)) return;
    for (const [name, inner] of model) {
      yield name;
      yield* namesIn(inner);
    }
  }
});

describe("large documents", () => {
  it("are walked once, however deep the path", () => {
    const filler = `"${"x".repeat(1_000_000)}"`;
    const deep = `${'{"a":'.repeat(63)}{"f":${filler}}${"}".repeat(63)}`;
    const path = [...Array.from({ length: 63 }, () => "a"), "new"];
    const result = insertAt(deep, path, "1", maxDepth);
    expect(result).toMatchObject({ outcome: "created" });
    if (result.outcome === "created") expect(readAt(result.document, path)).toEqual({ outcome: "found", text: "1" });
  });
});

describe("a member at a path of names", () => {
  it.each([
    ['{"a":1,"b":2,"c":3}', ["b"], '{"a":1,"c":3}'],
    ['{"a":1,"b":2}', ["b"], '{"a":1}'],
    ['{"a":1}', ["a"], "{}"],
    ['{"a":{"b":{"c":1.0,"d":2}},"e":1}', ["a", "b", "c"], '{"a":{"b":{"d":2}},"e":1}'],
    ['{"a":"b","b":1}', ["a", "b"], '{"b":1}'],
    ['{"a":{"b":1}}', ["a", "c"], '{"a":{"b":1}}'],
    ['{"a":[{"b":1},{"c":2}],"d":3}', ["a", "b"], '{"d":3}'],
    ['{"a\\"b":1,"c":{"a\\"b":2}}', ['a"b'], '{"c":{"a\\"b":2}}'],
    ["[1]", ["a"], "[1]"],
  ])("of %s is left out, %j, and what is no object above it as a whole", (text, path, expected) => {
    expect(withoutPath(text, path)).toBe(expected);
  });
});
