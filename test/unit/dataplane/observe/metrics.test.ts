import fc from "fast-check";
import { Counter, Histogram, Registry } from "prom-client";
import { expect, it } from "vitest";
import { CounterTally, HistogramTally } from "../../../../dataplane/observe/metrics.ts";

const labelNames = ["project", "status"] as const;
const labels = fc.record({ project: fc.constantFrom("a", 'quo"te', "back\\slash", "new\nline"), status: fc.nat(3) });
const help = "What it is";

it("a counter tally is written out as prom-client's own counter is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(labels), async (counted) => {
      const [own, theirs] = [new Registry(), new Registry()];
      const tally = new CounterTally({ name: "asked_total", help, labelNames, registers: [own] });
      const counter = new Counter({ name: "asked_total", help, labelNames, registers: [theirs] });
      for (const each of counted) {
        tally.series(each).increment();
        counter.inc(each);
      }
      expect(await own.metrics()).toBe(await theirs.metrics());
    }),
  );
});

it("a histogram tally is written out as prom-client's own histogram is, values on a bound and above all included", async () => {
  const buckets = [0.5, 1, 2.5];
  const seconds = fc.oneof(fc.constantFrom(0, ...buckets, 100), fc.double({ min: 0, max: 4, noNaN: true }));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(labels, seconds)), async (observed) => {
      const [own, theirs] = [new Registry(), new Registry()];
      const tally = new HistogramTally({ name: "seconds", help, labelNames, buckets, registers: [own] });
      const histogram = new Histogram({ name: "seconds", help, labelNames, buckets, registers: [theirs] });
      for (const [each, value] of observed) {
        tally.series(each).observe(value);
        histogram.observe(each, value);
      }
      expect(await own.metrics()).toBe(await theirs.metrics());
    }),
  );
});

it("labels in another order are the same series", () => {
  const tally = new CounterTally({ name: "asked_total", help, labelNames, registers: [] });
  expect(tally.series({ status: 1, project: "a" })).toBe(tally.series({ project: "a", status: 1 }));
});
