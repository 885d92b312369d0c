// Which index set follows a declaration, and what values its indexes hold of an object.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeSortValue } from "../../../../../dataplane/store/order.ts";
import {
  encodedValues,
  type IndexSet,
  indexMoves,
  indexSetOf,
  nextIndexSet,
  type StoredIndex,
} from "../../../../../dataplane/store/redis/indexes/index-set.ts";

const none: IndexSet = indexSetOf([null, null, null, null, null, null, null, null, null]);
const field = (name: string) => ({ name, path: name.split(".") });

function following(set: IndexSet, ...names: readonly string[]): IndexSet {
  const { nextIndexNumber, indexes, cursor, owners } = nextIndexSet(set, names.map(field));
  return { ...none, version: "v", revision: 1, nextIndexNumber, indexes, cursor, owners };
}

describe("a declaration", () => {
  it("follows nothing at all", () => {
    expect(none).toEqual({
      version: "",
      revision: Number.NEGATIVE_INFINITY,
      nextIndexNumber: 1,
      indexes: [],
      cursor: undefined,
      owners: { areKept: true, cursor: undefined },
      minRevision: 0,
    });
    expect(nextIndexSet(none, [])).toMatchObject({ indexes: [], dropped: [], isSame: true, cursor: undefined });
  });

  it("never uses a place twice, not even that of the index dropped last", () => {
    const two = following(none, "a", "b");
    expect(two.indexes.map(({ slot }) => slot)).toEqual([1, 2]);
    const one = following(two, "a");
    expect(following(one, "a", "b").indexes.map(({ slot }) => slot)).toEqual([1, 3]);
  });

  it("takes another path, or another encoding, for another index", () => {
    const set = following(none, "a.b");
    const other = nextIndexSet(set, [{ name: "a.b", path: ["a.b"] }]);
    expect([other.dropped.map(({ slot }) => slot), other.indexes.map(({ slot }) => slot)]).toEqual([[1], [2]]);
    const old: IndexSet = { ...set, indexes: set.indexes.map((index) => ({ ...index, encoding: 0 })) };
    expect(nextIndexSet(old, [field("a.b")]).dropped).toHaveLength(1);
  });

  it("is the same when no entry changes, in any order", () => {
    const set = following(none, "a", "b");
    expect(nextIndexSet(set, [field("b"), field("a")]).isSame).toBe(true);
    expect(nextIndexSet(set, [field("a")]).isSame).toBe(false);
    expect(nextIndexSet(set, [field("a"), field("b"), field("c")]).isSame).toBe(false);
  });

  it("begins building anew only for new fields", () => {
    const building: IndexSet = { ...following(none, "a", "b"), cursor: "half" };
    expect(nextIndexSet(building, [field("a")]).cursor).toBe("half");
    expect(nextIndexSet(building, [field("a"), field("c")]).cursor).toBe("");
    const ready: IndexSet = { ...building, indexes: building.indexes.map((index) => ({ ...index, state: "ready" })) };
    expect(nextIndexSet({ ...ready, cursor: undefined }, [field("a")]).cursor).toBeUndefined();
  });
});

describe("the values of an object", () => {
  it("are the same for few indexes and for many", () => {
    const text = '{"id":"1","a":{"b":{"c":"x"}},"__proto__":1,"l":[1],"n":null,"a.b":2}';
    const paths = [
      ["a", "b", "c"],
      ["a"],
      ["a", "x"],
      ["__proto__"],
      ["constructor"],
      ["l", "0"],
      ["n"],
      ["a.b"],
      ["id", "x"],
    ];
    const indexes = paths.map((path, at) => ({
      slot: at,
      encoding: 1,
      name: String(at),
      path,
      state: "ready" as const,
    }));
    const expected = ['"x"', '{"b":{"c":"x"}}', undefined, "1", undefined, undefined, "null", "2", undefined];
    expect(encodedValues(indexes, text)).toEqual(expected.map(encodeSortValue));
    for (const [at, index] of indexes.entries()) {
      expect(encodedValues([index], text)).toEqual([encodeSortValue(expected[at])]);
    }
  });
});

describe("what changes in the indexes with an object", () => {
  const texts = fc
    .record(
      {
        a: fc.constantFrom("1", "1.0", "2", '"x"', "null", '{"b":1}', '{"b":2,"c":1}'),
        b: fc.constantFrom("1", '"x"', "[1]", "[2]"),
        c: fc.constantFrom("true", '"\\u0000"'),
      },
      { requiredKeys: [] },
    )
    .map(
      (members) =>
        `{"id":"i",${Object.entries(members)
          .map(([name, value]) => `"${name}":${value},`)
          .join("")}"z":0}`,
    );
  const fields = fc.constantFrom(...["a", "b", "c", "a.b", "a.c", "missing"].map(field));
  const indexes = fc
    .array(fc.tuple(fields, fc.option(fc.tuple(fields, fields)), fc.constantFrom("ready", "building")), {
      maxLength: 5,
    })
    .map((all) =>
      all.map(
        ([one, both, state], at): StoredIndex => ({
          ...{ ...one, slot: at + 1, encoding: 1, state },
          ...(both && { parts: both }),
        }),
      ),
    );

  it("is each entry whose value is another one, and every entry of an index that is building", () => {
    fc.assert(
      fc.property(indexes, texts, texts, (all, before, after) => {
        const [old, fresh] = [encodedValues(all, before), encodedValues(all, after)];
        const expected = all
          .map((index, at) => ({ index, before: old[at], after: fresh[at] }))
          .filter((move) => move.before !== move.after || move.index.state === "building");
        expect(indexMoves(all, before, after)).toEqual(expected);
      }),
      { numRuns: 3_000 },
    );
  });
});
