// What Grafana reads: panels that don't overlap, each with words and a unit, and nothing but the
// chosen data source.

import { describe, expect, it } from "vitest";
import { grafanaJson } from "../../tools/dashboards/declare.ts";
import { dashboards } from "../../tools/dashboards/generate.ts";

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

const overlap = (a: Panel["gridPos"], b: Panel["gridPos"]): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

describe.each(dashboards.map((dashboard) => [dashboard.title, dashboard] as const))("%s", (_, dashboard) => {
  const { panels } = grafanaJson(dashboard) as { readonly panels: readonly Panel[] };

  it("has panels on a grid of 24 columns that don't overlap, each with an id of its own", () => {
    for (const [index, panel] of panels.entries()) {
      expect(panel.gridPos.x + panel.gridPos.w).toBeLessThanOrEqual(24);
      for (const other of panels.slice(index + 1)) expect(overlap(panel.gridPos, other.gridPos)).toBe(false);
    }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it("says of each panel what it shows, in which unit and from where", () => {
    for (const panel of panels.filter(({ type }) => type !== "row")) {
      expect(panel.description).toMatch(/\w.*\.$|^[a-z].*\.$/);
      expect(panel.fieldConfig?.defaults.unit).toMatch(/^(short|s|reqps|ops|bytes|percentunit)$/);
      expect(panel.datasource?.uid).toBe("$datasource");
    }
  });
});

describe("Key/Value usage", () => {
  it("shows the three figures of the specification, over the last hour, and nothing else", () => {
    const panels = dashboards[0]?.rows.flatMap((row) => row.panels) ?? [];
    expect(panels.map(({ title, window }) => [title, window?.back, window?.step])).toEqual([
      ["Requests in the last hour", undefined, undefined],
      ["Status codes per 5 minutes", "1h", "5m"],
      ["Mean response time per 5 minutes", "1h", "5m"],
    ]);
  });
});
