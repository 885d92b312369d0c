// The queries of docs/how-to/share-out-costs.md, on ten teams with a namespace each, for some hours
// in which a leader and a replica are replaced.

import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { rulesFile } from "./alert-rules.ts";
import { type PlayedSeries, playSeries } from "./play-series.ts";

const teams = Array.from({ length: 10 }, (_, at) => at + 1);
const allShares = 55;

/** Each team stores more than the one before it, and gets fewer requests. */
const storedBy = (team: number): number => team * 100;
const perMinuteOf = (team: number): number => (11 - team) * 30;

const page = await readFile(new URL("../../docs/how-to/share-out-costs.md", import.meta.url), "utf8");
const queries = fencedBlocks(page).filter(({ language }) => language === "promql");
/** By the line before it, which says what it answers. */
function queryAfter(words: string): string {
  const before = (line: number) =>
    page
      .split("\n")
      .slice(0, line - 1)
      .join("\n")
      .trimEnd();
  const found = queries.find(({ line }) => before(line).endsWith(words));
  if (found === undefined) throw new Error(`The page has no query after "${words}"`);
  return found.text;
}

function seriesOf(team: number): readonly PlayedSeries[] {
  const labels = `namespace="team-${team}",project="web"`;
  const stored = (instance: string, values: string): PlayedSeries => ({
    series: `jsonplane_stored_objects{${labels},instance="${instance}"}`,
    values,
  });
  const perSample = perMinuteOf(team) / 4;
  const requests = (metric: string, instance: string, start: string): PlayedSeries => ({
    series: `jsonplane_${metric}_requests_total{${labels},instance="${instance}",status="200"}`,
    values: `${start}+${perSample}x480`,
  });
  return [
    // For two minutes both leaders are there.
    stored("o1", `${storedBy(team)}x240 stale`),
    stored("o2", `_x236 ${storedBy(team)}x250`),
    requests("api", "d1", "1000"),
    requests("kv", "d2", "7"),
  ];
}

const series = teams.flatMap(seriesOf);
const at = "3h";

const storageQuery =
  "A team that stores 1,000 objects for half of the month has the share of one that stores 500 for all of it:";
const amountQuery = "To share out 1,000 a month, 60 % by storage and 40 % by requests:";

/** Of a counter that begins, Prometheus sees a little less than there was. */
it.each<readonly [query: string, digits: number, amountOf: (team: number) => number]>([
  ["Of all requests in the last 30 days:", 3, (team) => (11 - team) / allShares],
  [storageQuery, 3, (team) => team / allShares],
  [amountQuery, 1, (team) => (600 * team + 400 * (11 - team)) / allShares],
])("%s the query answers what each of ten teams has to pay", async (words, digits, amountOf) => {
  const samples = teams.map((team) => ({
    labels: `{namespace="team-${team}"}`,
    value: Number(amountOf(team).toFixed(digits)),
  }));
  const answers = [{ expr: `round(${queryAfter(words)}, ${10 ** -digits})`, at, samples }];
  expect(await playSeries({ series, answers, rules: [rulesFile] })).toBe("");
});

it("a team that stores twice as much for half of the time has the same share of storage", async () => {
  const stored = (team: string, values: string): PlayedSeries => ({
    series: `jsonplane_stored_objects{namespace="${team}",project="web"}`,
    values,
  });
  const samples = ["early", "late"].map((team) => ({ labels: `{namespace="${team}"}`, value: 0.5 }));
  const answers = [{ expr: `round(${queryAfter(storageQuery)}, 0.01)`, at: "4h", samples }];
  const both = [stored("early", "500x480"), stored("late", "_x240 1000x240")];
  expect(await playSeries({ series: both, answers, rules: [rulesFile] })).toBe("");
});

it("the amounts add up to the whole, also where a team gets requests and stores nothing", async () => {
  const more = [{ series: 'jsonplane_kv_requests_total{namespace="idle",project="web"}', values: "0+30x480" }];
  const expr = `round(sum(${queryAfter(amountQuery)}), 0.001)`;
  const answers = [{ expr, at, samples: [{ labels: "{}", value: 1_000 }] }];
  expect(await playSeries({ series: [...series, ...more], answers, rules: [rulesFile] })).toBe("");
});

it("within a namespace, requests and stored objects are told apart by Project", async () => {
  const ofTeams = (value: (team: number) => number) =>
    teams.map((team) => ({ labels: `{namespace="team-${team}", project="web"}`, value: value(team) }));
  const answers = [
    { expr: queryAfter("The ten Projects that store most:"), at, samples: ofTeams(storedBy) },
    {
      // What came between two samples is extrapolated by half a sample.
      expr: `round(${queryAfter("Requests of the last 24 hours, by Project:")}, 1000)`,
      at,
      samples: ofTeams((team) => Math.round((perMinuteOf(team) * 180) / 1_000) * 1_000),
    },
  ];
  expect(await playSeries({ series, answers, rules: [] })).toBe("");
});

it("every query of the page is tried here", () => {
  expect(queries).toHaveLength(5);
});
