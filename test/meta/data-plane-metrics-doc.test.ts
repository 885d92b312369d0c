import { readFileSync } from "node:fs";
import type { Gauge } from "prom-client";
import { expect, it } from "vitest";
import { createMetrics } from "../../dataplane/observe/metrics.ts";

it("docs/reference/data-plane-metrics.md lists every metric of the data plane with its type, labels and meaning, and no other", () => {
  const text = readFileSync(new URL("../../docs/reference/data-plane-metrics.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` \| (\w+) \| (.*) \| (.+) \|$/gm)].map(([, ...cells]) => cells);
  expect(rows.sort()).toEqual(registered().sort());
});

function registered(): string[][] {
  const { registry } = createMetrics({ configAgeSeconds: () => 0, projects: () => 0 });
  return (registry.getMetricsAsArray() as unknown as Registered[]).map((metric) => [
    metric.name,
    metric.constructor.name.toLowerCase(),
    metric.labelNames.map((label) => `\`${label}\``).join(", "),
    metric.help,
  ]);
}

/** What prom-client keeps of a metric, and its types don't say. */
type Registered = Gauge<string> & {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
};
