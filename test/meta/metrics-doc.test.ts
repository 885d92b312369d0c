import { readFileSync } from "node:fs";
import type { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createMetrics } from "../../dataplane/observe/metrics.ts";
import { operatorMetrics } from "../support/fleet/operator-metrics.ts";

it.each([
  [
    "the data plane",
    "data-plane-metrics.md",
    () =>
      createMetrics({
        configAgeSeconds: () => 0,
        projects: () => 0,
        keyringFits: () => true,
        usageReports: () => [],
        streams: () => 0,
        storeEngine: () => undefined,
      }),
  ],
  ["the operator", "operator-metrics.md", operatorMetrics],
])("the reference lists every metric of %s with its type, labels and meaning, and no other", (_who, page, metrics) => {
  const text = readFileSync(new URL(`../../docs/reference/${page}`, import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` \| (\w+) \| (.*) \| (.+) \|$/gm)].map(([, ...cells]) => cells);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.sort()).toEqual(registered(metrics().registry).sort());
});

function registered(registry: Registry): string[][] {
  return (registry.getMetricsAsArray() as unknown as Registered[]).map(({ name, type, labelNames, help }) => [
    name,
    type,
    labelNames.map((label) => `\`${label}\``).join(", "),
    help,
  ]);
}

/** What prom-client keeps of a metric, and its types don't say. */
interface Registered {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}
