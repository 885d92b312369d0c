// The figures of Key/Value usage over windows of five minutes and an hour, which no test can wait
// for: promtool plays series to the queries of the dashboard, such as Prometheus has when scrapes
// fail, replicas come and go, and projects are asked for the first time.

import { describe, expect, it } from "vitest";
import { dashboards } from "../../tools/dashboards/generate.ts";
import { type PlayedSeries, playSeries } from "./play-series.ts";

const panels = dashboards[0]?.rows.flatMap((row) => row.panels) ?? [];

function figure(title: string): string {
  const expr = panels.find((panel) => panel.title === title)?.queries[0]?.expr;
  if (expr === undefined) throw new Error(`no panel ${title}`);
  return expr.replaceAll("$namespace", "shop").replaceAll("$project", "web");
}

const requests = figure("Requests in the last hour");
const statuses = figure("Status codes per 5 minutes");
const mean = figure("Mean response time per 5 minutes");

interface Asked {
  readonly expr: string;
  readonly at: string;
  /** By labels after namespace and project; none = no answer. */
  readonly answers: Readonly<Record<string, number>>;
}

const labels = (instance: string, more = ""): string =>
  `{namespace="shop",project="web",root_key="a",instance="${instance}"${more}}`;

const counts = (instance: string, values: string, status = "200"): PlayedSeries => ({
  series: `jsonplane_kv_requests_total${labels(instance, `,method="GET",status="${status}"`)}`,
  values,
});

/**
 * A replica that is scraped, as `scraped` says, and started at that second of the test; by default
 * days before.
 */
const replica = (instance: string, scraped = "1x300", startedAt = -200_000): readonly PlayedSeries[] => [
  { series: `jsonplane_projects{instance="${instance}"}`, values: scraped },
  {
    series: `process_start_time_seconds{instance="${instance}"}`,
    values: scraped.replace(/\b1x/g, `${startedAt}x`).replace(/^1$/, String(startedAt)),
  },
];

async function play(series: readonly PlayedSeries[], asked: readonly Asked[]): Promise<void> {
  const answers = asked.map(({ expr, at, answers: byLabels }) => ({
    expr,
    at,
    samples: Object.entries(byLabels).map(([more, value]) => ({
      labels: `{namespace="shop",project="web"${more}}`,
      value,
    })),
  }));
  expect(await playSeries({ series, answers })).toBe("");
}

const hour = (at: string, value: number): Asked => ({ expr: requests, at, answers: { "": value } });
const ok = ',status="200"';

describe("requests in the last hour", () => {
  it("are exact, over replicas, statuses and methods, and of the chosen project alone", async () => {
    const other = counts("d1", "0+100x300").series.replace('"web"', '"other"');
    const series = [
      ...[...replica("d1"), ...replica("d2")],
      ...[counts("d1", "500+1x300"), counts("d2", "0+2x300"), counts("d2", "7x100 8x200", "404")],
    ];
    await play([...series, { series: other, values: "0+100x300" }], [hour("80m", 120 + 240 + 1)]);
  });

  it("count what a project was asked before the first scrape of it, on replicas of long ago and of now", async () => {
    await play([...replica("d1"), counts("d1", "_x100 3x100")], [hour("80m", 3)]);
    await play([...replica("d2", "_x100 1x100", 49 * 60), counts("d2", "_x100 5 9x100")], [hour("70m", 9)]);
  });

  it("don't count again what replicas counted before Prometheus looked", async () => {
    // 400 more in the twenty minutes since Prometheus runs; increase adds half a scrape interval.
    await play([...replica("d1"), counts("d1", "1000000+10x40")], [hour("20m", 405)]);
  });

  it("don't count again what replicas counted before a scrape that failed an hour ago", async () => {
    const gap = "x118 stale stale ";
    const series = [...replica("d1", `1${gap}1x140`), counts("d1", `1000000+10${gap}1001210+10x140`)];
    // 1200 an hour; while the hour begins in the gap, what was not seen is estimated.
    await play(series, [hour("119m", 1200), hour("119m30s", 1185), hour("2h", 1200), hour("121m", 1200)]);
  });

  it("keep what replicas answered that are gone", async () => {
    const gone = [...replica("d1", "1x60 stale"), counts("d1", "100+10x60 stale")];
    const next = [...replica("d2", "_x60 1x100", 30 * 60), counts("d2", "_x60 4+10x100")];
    // 30 minutes of 20 a minute each, and what the second was asked before its first scrape.
    await play([...gone, ...next], [hour("60m", 600 + 4 + 600)]);
  });

  it("count on after a container was restarted under its old address", async () => {
    await play([...replica("d1"), counts("d1", "1000+10x150 3+10x100")], [hour("100m", 1193)]);
  });
});

describe("status codes per five minutes", () => {
  it("are exact in each step, and the steps add up to the whole", async () => {
    // Bursts at odd moments.
    const values = "1000x12 1007x9 1008 1008 1020x10 1020x5 1021x100";
    const at = (minutes: number, value: number): Asked => ({
      expr: statuses,
      at: `${minutes}m`,
      answers: { [ok]: value },
    });
    const steps = [at(5, 0), at(10, 7), at(15, 13), at(20, 0), at(25, 1), at(30, 0)];
    await play([...replica("d1"), counts("d1", values)], steps);
    await play([...replica("d1"), counts("d1", values)], [hour("60m", 21)]);
  });

  it("are told apart", async () => {
    const series = [...replica("d1"), counts("d1", "0+3x100"), counts("d1", "_x15 2x100", "503")];
    await play(series, [{ expr: statuses, at: "10m", answers: { [ok]: 30, ',status="503"': 2 } }]);
  });
});

describe("the mean response time per five minutes", () => {
  const seconds = (instance: string, part: "sum" | "count", values: string): PlayedSeries => ({
    series: `jsonplane_kv_request_duration_seconds_${part}${labels(instance)}`,
    values,
  });

  it("weighs replicas by their requests", async () => {
    const fast = [...replica("d1"), seconds("d1", "count", "0+90x100"), seconds("d1", "sum", "0+0.9x100")];
    const slow = [...replica("d2"), seconds("d2", "count", "0+10x100"), seconds("d2", "sum", "0+1.1x100")];
    await play([...fast, ...slow], [{ expr: `round(${mean}, 0.0001)`, at: "20m", answers: { "": 0.02 } }]);
  });

  it("says nothing where there was no request", async () => {
    const idle = [...replica("d1"), seconds("d1", "count", "5x100"), seconds("d1", "sum", "2x100")];
    await play(idle, [{ expr: mean, at: "20m", answers: {} }]);
  });
});
