import { expect, it } from "vitest";
import { timeSummary } from "../../../../tools/test-run/times.ts";

const files = [
  { file: "test/http/lists.test.ts", load: 0.5, run: 2 },
  { file: "test/http/quotas.test.ts", load: 0.5, run: 3 },
  { file: "test/operator/kills.test.ts", load: 1, run: 40 },
];

it("the time of a run is summed by kind of test, the most expensive first", () => {
  const lines = timeSummary(files, []);
  expect(lines.slice(1, 3).map((line) => line.trim().split(/ {2,}/))).toEqual([
    ["40.0 s", "1.0 s", "operator (1)"],
    ["5.0 s", "1.0 s", "http (2)"],
  ]);
});

it("the slowest files are named, the slowest first, and not all of them", () => {
  const many = Array.from({ length: 40 }, (_, index) => ({ file: `test/http/${index}.test.ts`, load: 0, run: index }));
  const lines = timeSummary(many, []);
  const named = lines.filter((line) => line.includes(".test.ts"));
  expect(named[0]).toContain("test/http/39.test.ts");
  expect(named).toHaveLength(25);
});

it("starts of a part are summed, with how many there were and the slowest", () => {
  const starts = [
    { part: "etcd", ms: 500 },
    { part: "etcd", ms: 1_500 },
  ];
  expect(timeSummary(files, starts).at(-1)?.trim().split(/ {2,}/)).toEqual(["2.0 s", "1.5 s", "etcd (2)"]);
});
