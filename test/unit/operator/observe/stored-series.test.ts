import { expect, it } from "vitest";
import { storedSeriesOf } from "../../../../operator/observe/figures.ts";
import { operatorMetrics } from "../../../support/fleet/operator-metrics.ts";

it("each Project has a series with its namespace, also one that stores nothing", async () => {
  const { series } = operatorMetrics({
    storedObjects: () =>
      new Map([
        ["red/shop", 3],
        ["blue/shop", 0],
      ]),
  });
  expect(await series('jsonplane_stored_objects{namespace="red",project="shop"}')).toBe(3);
  expect(await series('jsonplane_stored_objects{namespace="blue",project="shop"}')).toBe(0);
});

it("beyond the limit, the same Projects keep their series, and all others are added up in one", () => {
  const counts = new Map([
    ["c/web", 4],
    ["a/web", 1],
    ["d/web", 8],
    ["b/web", 2],
  ]);
  const expected = [
    { namespace: "a", project: "web", count: 1 },
    { namespace: "b", project: "web", count: 2 },
    { namespace: "(others)", project: "(others)", count: 12 },
  ];
  expect(storedSeriesOf(counts, 2)).toEqual(expected);
  expect(storedSeriesOf(new Map([...counts].reverse()), 2)).toEqual(expected);
  expect(storedSeriesOf(counts, 4).map(({ namespace }) => namespace)).toEqual(["c", "a", "d", "b"]);
});
