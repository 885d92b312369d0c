// Turns measured loads into the Markdown page of the benchmark.

import type { FirstSights } from "./external-tokens.ts";
import type { Load, LoadOptions } from "./load.ts";
import type { Logins } from "./logins.ts";
import { machine } from "./machine.ts";
import { median } from "./median.ts";
import { missedNeighbours, type Neighbours, neighbourLines } from "./neighbours.ts";
import { type StagedRow, stageLines } from "./stages.ts";

export interface Row {
  readonly name: string;
  readonly budget: number;
  readonly plane: readonly Load[];
  readonly bare: readonly Load[];
  readonly jsonServer: readonly Load[];
}

export interface Report {
  readonly rows: readonly Row[];
  readonly stages: readonly StagedRow[];
  readonly logins: Logins;
  readonly firstSights: FirstSights;
  readonly neighbours: Neighbours;
  readonly rounds: number;
  readonly load: LoadOptions;
  readonly warmUp: LoadOptions;
  readonly loader: string;
  readonly objects: number;
}

export function table(report: Report): string {
  const { load, rounds, loader, objects, warmUp } = report;
  const lines = [
    "# Benchmarks",
    "",
    "Made by `npm run bench -- --write`. jsonplane runs as in production: it follows its configuration from Redis, trusts a proxy's",
    "`X-Forwarded-For`, checks the API key and the policy, writes the access log, and counts metrics. *bare* is fastify and ioredis, which send",
    "the same single Redis command without a log. *json-server* serves a file.",
    `All programs, Redis and the load generator share the cores, so only the ratios are meaningful (${machine()}).`,
    `${objects} objects of some 600 bytes, ${load.connections} connections, ${rounds} rounds of ${load.seconds} s by ${loader}, alternating, after ${warmUp.seconds} s each to warm up; medians, with the lowest and highest`,
    "ratio of a round. The Redis commands of each request are counted, not timed: test/http/redis-round-trips.test.ts.",
    "",
    "| operation | jsonplane /s | p50 ms | p99 ms | bare /s | against bare | budget | against json-server |",
    "|---|---:|---:|---:|---:|---:|---:|---:|",
    ...report.rows.map(line),
    "",
    `Logins, 8 at once: ${report.logins.perSecond.toFixed(1)} /s; argon2id alone, as many at once as the service allows: ` +
      `${report.logins.argonPerSecond.toFixed(1)} /s; ratio ${(report.logins.perSecond / report.logins.argonPerSecond).toFixed(2)}.`,
    "",
    `An external issuer's token that is seen for the first time takes this CPU time, of all threads: ${firstSightsOf(report)}.`,
    "",
    ...stageLines(report.stages),
    ...neighbourLines(report.neighbours),
    ...missedLines(report),
  ];
  return lines.join("\n");
}

function firstSightsOf({ firstSights }: Report): string {
  return Object.entries(firstSights)
    .map(([algorithm, microseconds]) => `${algorithm} ${microseconds.toFixed(0)} µs`)
    .join(", ");
}

function missedLines({ rows, neighbours }: Report): readonly string[] {
  const missed = [...rows.flatMap(missedRow), ...missedNeighbours(neighbours)];
  if (missed.length === 0) return ["No budget is missed.", ""];
  return [
    "## Budgets that are missed",
    "",
    `${missed.join("; ")}. A missed budget is listed here until it is met. The`,
    "[next section](#where-the-time-goes) shows where the time goes, [performance](explanation/performance.md) what was tried.",
    "",
  ];
}

function missedRow({ name, plane, bare, budget }: Row): readonly string[] {
  const found = median(ratiosOf(plane, bare));
  return found < budget ? [`${name}: ${found.toFixed(2)} of ${budget}`] : [];
}

function line(row: Row): string {
  const rate = (loads: readonly Load[]) => (loads.length ? String(Math.round(median(loads.map(perSecond)))) : "–");
  const p50 = median(row.plane.map((load) => load.p50)).toFixed(1);
  const p99 = median(row.plane.map((load) => load.p99)).toFixed(1);
  const cells = [row.name, rate(row.plane), p50, p99, rate(row.bare), ratio(row.plane, row.bare), `≥ ${row.budget}`];
  return `| ${[...cells, ratio(row.plane, row.jsonServer)].join(" | ")} |`;
}

function ratio(ours: readonly Load[], theirs: readonly Load[]): string {
  if (theirs.length === 0) return "–";
  const ratios = ratiosOf(ours, theirs);
  const bounds = [Math.min(...ratios), Math.max(...ratios)].map((value) => value.toFixed(2)).join("–");
  return `${median(ratios).toFixed(2)} (${bounds})`;
}

function ratiosOf(ours: readonly Load[], theirs: readonly Load[]): readonly number[] {
  return ours.map((load, round) => load.perSecond / (theirs[round]?.perSecond ?? Number.NaN));
}

function perSecond(load: Load): number {
  return load.perSecond;
}
