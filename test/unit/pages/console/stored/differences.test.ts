// What a person is shown of a version that somebody else has stored meanwhile.

import { expect, it } from "vitest";
import { differencesOf, mergeMine } from "../../../../../pages/console/stored/differences.ts";

it("are the members that differ, at every depth, with every digit, and who has changed them", () => {
  const differences = differencesOf({
    before: '{"title":"Emma","n":9007199254740993,"a/b":{"c":1,"d":[1,2]},"gone":1,"both":1}',
    theirs: '{"title":"Theirs","n":9007199254740993,"a/b":{"c":1.0,"d":[1,3]},"gone":1,"both":2,"new":null}',
    mine: '{\n  "n": 9007199254740992,\n  "title": "Emma",\n  "a/b": {"c": 1, "d": [1, 2]},\n  "both": 3\n}',
  });
  expect(differences).toEqual([
    { pointer: "/title", theirs: '"Theirs"', mine: '"Emma"', changedBy: "them" },
    { pointer: "/n", theirs: "9007199254740993", mine: "9007199254740992", changedBy: "me" },
    { pointer: "/a~1b/c", theirs: "1.0", mine: "1", changedBy: "them" },
    { pointer: "/a~1b/d/1", theirs: "3", mine: "2", changedBy: "them" },
    { pointer: "/gone", theirs: "1", mine: undefined, changedBy: "me" },
    { pointer: "/both", theirs: "2", mine: "3", changedBy: "both" },
    { pointer: "/new", theirs: "null", mine: undefined, changedBy: "them" },
  ]);
});

it.each([
  ["1", '"1"'],
  ["[1]", "[1,2]"],
  ["{}", "[]"],
])("are the whole value where it is of another kind or length: %s and %s", (theirs, mine) => {
  expect(differencesOf({ before: "0", theirs, mine })).toEqual([{ pointer: "", theirs, mine, changedBy: "both" }]);
});

it("are a whole list where somebody has added to it or removed from it", () => {
  expect(differencesOf({ before: "[1]", theirs: "[0,1]", mine: "[1,2]" })).toEqual([
    { pointer: "", theirs: "[0,1]", mine: "[1,2]", changedBy: "both" },
  ]);
});

it("are none where only white space and the order of members differ", () => {
  expect(differencesOf({ before: "1", theirs: '{"a":1,"b":[]}', mine: '{ "b": [], "a": 1 }' })).toEqual([]);
});

it("can't be told of a text that isn't JSON", () => {
  expect(differencesOf({ before: "1", theirs: "2", mine: "{" })).toBeUndefined();
});

it("leave to a save of mine what only somebody else has changed", () => {
  const before = '{"title":"Emma","price":3,"a/b":{"c":1,"d":[1,2]},"gone":1,"both":1}';
  const merged = mergeMine({
    before,
    theirs: '{"title":"Emma","price":20.0,"a/b":{"c":1.0,"d":[1,3]},"gone":1,"both":2,"pages":600}',
    mine: '{"title":"Emma II","price":3,"a/b":{"c":1,"d":[0,2],"e":null},"both":9007199254740993}',
  });
  expect(merged).toBe(
    '{"title":"Emma II","price":20.0,"a/b":{"c":1.0,"d":[0,3],"e":null},"both":9007199254740993,"pages":600}',
  );
  expect(mergeMine({ before, theirs: before, mine: "{" })).toBeUndefined();
});
