import { describe, expect, it } from "vitest";
import { checkRows, staleness, unprovedRows } from "../../../../tools/spec/check-rows.ts";
import { rowsOf } from "../../../../tools/spec/read-rows.ts";
import type { FullRun } from "../../../../tools/test-run/full-run.ts";

const here = { commit: "c1", tree: "t1" };
const name = "lists › answers ten objects";
const reference = `test/http/lists.test.ts › ${name}`;

function runOf(...passed: readonly boolean[]): FullRun {
  const tests = passed.map((each) => ({ file: "test/http/lists.test.ts", name, passed: each }));
  return { before: here, after: here, finished: "2026-01-01T00:00:00Z", passed: 0, failed: 0, tests };
}

const row = (...tests: readonly string[]) => [{ id: "R", says: "A promise", tests, waits: undefined }];
const proved = (run: FullRun, ...tests: readonly string[]) => checkRows(row(...tests), run).map((each) => each.proved);

describe("a row of the specification", () => {
  it("is proved by its test when that ran and passed", () => {
    expect(proved(runOf(true), reference)).toEqual([true]);
  });

  it("is not proved without a test", () => {
    expect(proved(runOf(true))).toEqual([false]);
  });

  it("is not proved when its test was renamed, failed or skipped", () => {
    expect(proved(runOf(true), `${reference} or more`)).toEqual([false]);
    expect(proved(runOf(false), reference)).toEqual([false]);
    expect(proved(runOf(), reference)).toEqual([false]);
  });

  it("needs all its tests, and all tests of one name", () => {
    expect(proved(runOf(true), reference, "test/http/other.test.ts › gone")).toEqual([false]);
    expect(proved(runOf(true, false), reference)).toEqual([false]);
    expect(proved(runOf(false, true), reference)).toEqual([false]);
  });
});

describe("a row that waits for something to be built", () => {
  const rows = rowsOf("enforce: true\nrows:\n  - { id: R, says: A promise, test: null, waits: the operator }").rows;

  it("is not proved, says what it waits for, and fails no run", () => {
    const verdicts = checkRows(rows, runOf(true));
    expect(verdicts).toMatchObject([{ proved: false, note: "waits for the operator" }]);
    expect(unprovedRows(verdicts)).toEqual([]);
    expect(unprovedRows(checkRows(row(), runOf(true)))).toHaveLength(1);
  });

  it("names no test", () => {
    const text = `enforce: true\nrows:\n  - { id: R, says: A, test: "${reference}", waits: the operator }`;
    expect(() => rowsOf(text)).toThrow("has a test or waits");
  });
});

describe("the report of a full run", () => {
  it("counts for the tree that it was made of", () => {
    expect(staleness(runOf(true), here)).toBeUndefined();
    expect(staleness(runOf(true), { commit: "c2", tree: "t1" })).toBeUndefined();
  });

  it("counts for no other tree, and not when files changed meanwhile", () => {
    expect(staleness(runOf(true), { commit: "c1", tree: "t2" })).toContain("another tree");
    expect(staleness({ ...runOf(true), before: { ...here, tree: "t0" } }, here)).toContain("files changed");
    expect(staleness(undefined, here)).toContain("no report");
  });
});

describe("the file of rows", () => {
  const text = (rows: string) => `enforce: true\nrows:\n${rows}\n`;

  it("gives each row its tests, however many", () => {
    const { enforce, rows } = rowsOf(
      text(
        `- { id: A, says: a, test: null }\n- { id: B, says: b, test: "${reference}" }\n- { id: C, says: c, test: ["${reference}", "${reference}"] }`,
      ),
    );
    expect(enforce).toBe(true);
    expect(rows.map((each) => each.tests.length)).toEqual([0, 1, 2]);
  });

  it.each([
    ["two rows of one id", "- { id: A, says: a, test: null }\n- { id: A, says: b, test: null }", "two rows A"],
    ["a test without its file", '- { id: A, says: a, test: "answers ten objects" }', "names answers ten objects"],
    ["an unknown member", "- { id: A, says: a, tests: null }", "has a member tests"],
    ["a row without an id", "- { says: a, test: null }", "needs an id"],
  ])("refuses %s", (_case, rows, message) => {
    expect(() => rowsOf(text(rows))).toThrow(message);
  });
});
