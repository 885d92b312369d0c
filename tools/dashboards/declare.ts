// The words that Grafana dashboards are declared with, and how they become Grafana's JSON: panels
// flow over a grid of 24 columns.

export interface Query {
  readonly expr: string;
  /** Legend, with `{{label}}`. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  readonly description: string;
  /** `figure` = one number; `bars` = stacked, one bar for each step. */
  readonly kind: "lines" | "bars" | "figure";
  /** A unit of Grafana: `short`, `s`, `reqps`, `percentunit`, `bytes`. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** Columns of 24. */
  readonly width: number;
  /** Always this far back, whatever the dashboard shows, and with this step. */
  readonly window?: { readonly back: string; readonly step: string };
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Variables after the data source, each the values of a label, by the metric that has it. */
  readonly variables: readonly { readonly name: string; readonly label: string; readonly query: string }[];
  readonly rows: readonly Row[];
}

/** A panel of half the width. */
export function lines(title: string, unit: string, description: string, queries: Panel["queries"]): Panel {
  return { title, unit, description, queries, kind: "lines", width: 12 };
}

const height = 8;
const columns = 24;
const source = { type: "prometheus", uid: "$datasource" };

export function grafanaJson({ uid, title, description, variables, rows }: Dashboard): unknown {
  return {
    uid,
    title,
    description,
    tags: ["jsonplane"],
    editable: true,
    schemaVersion: 39,
    version: 1,
    graphTooltip: 1,
    refresh: "30s",
    timezone: "browser",
    time: { from: "now-1h", to: "now" },
    templating: { list: [dataSource, ...variables.map(variable)] },
    annotations: { list: [] },
    links: [],
    panels: placed(rows),
  };
}

const dataSource = {
  name: "datasource",
  label: "Data source",
  type: "datasource",
  query: "prometheus",
  current: {},
  hide: 0,
};

function variable({ name, label, query }: Dashboard["variables"][number]): unknown {
  return {
    name,
    label,
    type: "query",
    datasource: source,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    includeAll: true,
    multi: true,
    allValue: ".*",
    current: { text: "All", value: "$__all" },
  };
}

function placed(rows: readonly Row[]): readonly unknown[] {
  let y = 0;
  let id = 0;
  const panels: unknown[] = [];
  for (const row of rows) {
    id += 1;
    panels.push({
      id,
      type: "row",
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 },
    });
    y += 1;
    let x = 0;
    for (const panel of row.panels) {
      if (x + panel.width > columns) {
        x = 0;
        y += height;
      }
      id += 1;
      panels.push({ id, ...panelJson(panel), gridPos: { x, y, w: panel.width, h: height } });
      x += panel.width;
    }
    y += height;
  }
  return panels;
}

function panelJson({ title, description, kind, unit, queries, window }: Panel): Readonly<Record<string, unknown>> {
  return {
    type: kind === "figure" ? "stat" : "timeseries",
    title,
    description,
    datasource: source,
    ...(window !== undefined && { timeFrom: window.back, interval: window.step }),
    fieldConfig: { defaults: { unit, min: 0, ...(kind === "figure" ? {} : { custom: drawing(kind) }) }, overrides: [] },
    options:
      kind === "figure"
        ? { reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false }, graphMode: "none", textMode: "auto" }
        : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: source,
      expr,
      legendFormat: legend,
      range: kind !== "figure",
      instant: kind === "figure",
    })),
  };
}

function drawing(kind: Panel["kind"]): unknown {
  return kind === "bars"
    ? { drawStyle: "bars", fillOpacity: 70, lineWidth: 0, stacking: { mode: "normal" } }
    : { drawStyle: "line", fillOpacity: 8, lineWidth: 1, showPoints: "never" };
}
