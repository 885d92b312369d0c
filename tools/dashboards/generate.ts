// Writes the dashboards of the chart.

import { dataPlane } from "./data-plane.ts";
import { type Dashboard, grafanaJson } from "./declare.ts";
import { keyValueUsage } from "./key-value-usage.ts";
import { namespace } from "./namespace.ts";
import { operator } from "./operator.ts";
import { usageAndCost } from "./usage-and-cost.ts";

export const dashboards: readonly Dashboard[] = [keyValueUsage, dataPlane, operator, usageAndCost, namespace];

/** By path below the repository's root. */
export function generateDashboards(): ReadonlyMap<string, string> {
  return new Map(
    dashboards.map((dashboard) => [
      `charts/jsonplane/dashboards/${dashboard.uid.replace(/^jsonplane-/, "")}.json`,
      `${JSON.stringify(grafanaJson(dashboard), null, 2)}\n`,
    ]),
  );
}
