// A root key's value as the rows of a tree, and what keys do in it.

import { describe, expect, it } from "vitest";
import { stepOf } from "../../../../../pages/console/root-key/tree-keys.ts";
import {
  childrenAtOnce,
  firstView,
  pathOf,
  type Row,
  rowsOf,
  textAt,
  withMore,
  withOpen,
} from "../../../../../pages/console/root-key/tree-rows.ts";

const text = '{"title":"a","sizes":[1.0,{"deep":true}],"a/b":{},"none":[]}';
const opened = withOpen(firstView, "/sizes", true);

/** As a person reads them. */
function shown(rows: readonly Row[]): readonly string[] {
  return rows.map((row) => {
    const indented = `${"  ".repeat(row.level - 1)}${row.position}/${row.siblings}`;
    return row.type === "more"
      ? `${indented} ${row.hidden} more`
      : `${indented} ${row.name} ${row.kind} ${row.children}`;
  });
}

describe("the rows of a tree", () => {
  it("are the value and what is in it, and deeper ones once they are opened", () => {
    expect(shown(rowsOf("doc", text, firstView))).toEqual([
      "1/1 doc object 4",
      "  1/4 title string 0",
      "  2/4 sizes array 2",
      "  3/4 a/b object 0",
      "  4/4 none array 0",
    ]);
    expect(shown(rowsOf("doc", text, opened)).slice(2, 5)).toEqual([
      "  2/4 sizes array 2",
      "    1/2 0 number 0",
      "    2/2 1 object 1",
    ]);
    expect(rowsOf("doc", text, withOpen(opened, "", false))).toHaveLength(1);
  });

  it("of a scalar are one", () => {
    expect(shown(rowsOf("doc", "1e300", firstView))).toEqual(["1/1 doc number 0"]);
  });

  it("keep a number as it is stored, and know the path to it", () => {
    const [, , , number, object] = rowsOf("doc", text, opened);
    expect(number).toMatchObject({ text: "1.0", parent: "/sizes" });
    expect(object && pathOf(object)).toEqual(["sizes", "1"]);
    const slash = rowsOf("doc", text, firstView)[3];
    expect(slash && pathOf(slash)).toEqual(["a/b"]);
  });

  it("show so many children at once, and more when asked", () => {
    const long = JSON.stringify(Array.from({ length: childrenAtOnce * 2 + 1 }, () => 0));
    const once = rowsOf("doc", long, firstView);
    expect(once).toHaveLength(1 + childrenAtOnce + 1);
    expect(once.at(-1)).toMatchObject({ type: "more", hidden: childrenAtOnce + 1, parent: "" });
    const twice = withMore(firstView, "");
    expect(rowsOf("doc", long, twice).at(-1)).toMatchObject({ hidden: 1 });
    const all = rowsOf("doc", long, withMore(twice, ""));
    expect([all.length, all.at(-1)?.type]).toEqual([1 + childrenAtOnce * 2 + 1, "value"]);
  });

  it.each([
    [[], text],
    [["sizes", "0"], "1.0"],
    [["sizes", "1", "deep"], "true"],
    [["sizes", "2"], undefined],
    [["title", "0"], undefined],
    [["constructor"], undefined],
  ])("stand for the value at %j: %s", (path, found) => {
    expect(textAt(text, path)).toBe(found);
  });
});

describe("a key in the tree", () => {
  // doc, title, sizes, 0, 1, a/b, none
  const rows = rowsOf("doc", text, opened);

  it.each([
    ["ArrowDown", 0, 1],
    ["ArrowDown", 6, 6],
    ["ArrowUp", 3, 2],
    ["ArrowUp", 0, 0],
    ["Home", 4, 0],
    ["End", 1, 6],
    ["ArrowRight", 2, 3],
    ["ArrowRight", 4, "open"],
    ["ArrowRight", 1, 1],
    ["ArrowRight", 5, 5],
    ["ArrowLeft", 2, "close"],
    ["ArrowLeft", 4, 2],
    ["ArrowLeft", 1, 0],
    ["Enter", 1, "choose"],
    [" ", 1, "choose"],
    ["n", 0, 6],
    ["T", 4, 1],
    ["x", 4, 4],
    ["Tab", 1, undefined],
    ["Escape", 1, undefined],
  ] as const)("%s on row %i: %s", (key, current, step) => {
    expect(stepOf(key, rows, current)).toBe(step);
  });

  it("ArrowLeft on a closed tree stays there", () => {
    expect(stepOf("ArrowLeft", rowsOf("doc", text, withOpen(firstView, "", false)), 0)).toBe(0);
  });
});
