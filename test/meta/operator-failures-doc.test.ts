import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const text = readFileSync(new URL("../../docs/reference/operator-failures.md", import.meta.url), "utf8");
const rows = [...text.matchAll(/^\| (\d+) \|(.*)\|$/gm)].map(([, number = "", cells = ""]) => ({ number, cells }));
const named = [...text.matchAll(/`(test\/[\w/.-]+)`: (.+?)(?:<br>| \|$)/gm)];

describe("docs/reference/operator-failures.md", () => {
  it("has a row for each of the fifteen failures, which names a test", () => {
    expect(rows.map(({ number }) => Number(number))).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
    expect(rows.filter(({ cells }) => !cells.includes("`test/"))).toEqual([]);
  });

  it.each(named.map(([, file = "", title = ""]) => ({ file, title })))("names a test that is there: $title", (test) => {
    const url = new URL(`../../${test.file}`, import.meta.url);
    expect(existsSync(url)).toBe(true);
    expect(readFileSync(url, "utf8")).toContain(test.title);
  });

  it("reads every name of a test on the page", () => {
    expect(named).toHaveLength(text.split("`test/").length - 1);
  });
});
