// A real Prometheus that scrapes every second, for tests of queries.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import { findPrometheus } from "../../tools/parts/prometheus.ts";
import { send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";
import { eventually } from "../support/time/eventually.ts";

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface TestPrometheus {
  readonly origin: string;
  /** An instant query; rejects with what Prometheus said of a broken one. */
  query(expr: string): Promise<readonly Sample[]>;
  /** A query over time; `since` and `until` in Unix seconds. */
  range(expr: string, range: Range): Promise<readonly Series[]>;
  stop(): Promise<void>;
}

export interface Range {
  readonly since: number;
  readonly until: number;
  /** Seconds. */
  readonly step: number;
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Unix seconds and value. */
  readonly points: readonly (readonly [number, number])[];
}

export interface Target {
  /** `127.0.0.1:9090` */
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * `rules` = files of recording rules and alerts, evaluated every second; `tokenFile` = what it
 * sends, as the documented job does. Labels are those of the chart's PodMonitor.
 */
export async function startPrometheus(
  targets: readonly Target[],
  rules: readonly string[],
  tokenFile?: string,
): Promise<TestPrometheus> {
  const { prometheus } = await findPrometheus(process.env);
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-prometheus-"));
  const port = await freePort();
  const config = {
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: rules,
    scrape_configs: [
      {
        job_name: "jsonplane",
        ...(tokenFile !== undefined && { authorization: { credentials_file: tokenFile } }),
        metric_relabel_configs: await podMonitorRelabelings(),
        static_configs: targets.map(({ address, labels }) => ({ targets: [address], labels })),
      },
    ],
  };
  await writeFile(join(dir, "prometheus.yml"), stringify(config));
  const flags = [
    `--config.file=${join(dir, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(dir, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn(prometheus, flags, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log = `${log}${chunk.toString()}`.slice(-4_000);
  });
  const killAtExit = () => void child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const origin = `http://127.0.0.1:${port}`;
  await eventually(
    async () => {
      if ((await send(origin, "/-/ready")).status !== 200) throw new Error(`Prometheus is not ready:\n${log}`);
    },
    { withinMs: 30_000 },
  );
  return {
    origin,
    query: (expr) => query(origin, expr),
    async range(expr, { since, until, step }) {
      const found = await ask(
        origin,
        `query_range?query=${encodeURIComponent(expr)}&start=${since}&end=${until}&step=${step}`,
      );
      return found.map(({ metric, values = [] }) => ({
        labels: metric,
        points: values.map(([time, value]): [number, number] => [time, Number(value)]),
      }));
    },
    async stop() {
      process.off("exit", killAtExit);
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** An instant query, of Prometheus or of a proxy before it. */
export async function query(origin: string, expr: string): Promise<readonly Sample[]> {
  const found = await ask(origin, `query?query=${encodeURIComponent(expr)}`);
  return found.map(({ metric, value }) => ({ labels: metric, value: Number(value?.[1]) }));
}

async function ask(origin: string, question: string): Promise<ApiReply["data"]["result"]> {
  const reply = (await send(origin, `/api/v1/${question}`)).json<ApiReply>();
  if (reply.status !== "success") throw new Error(`${question}\n${reply.error}`);
  return reply.data.result;
}

/** As Prometheus' configuration has them; without those that the case adds. */
async function podMonitorRelabelings(): Promise<readonly unknown[]> {
  const golden = await readFile(new URL("../chart/golden/everything.yaml", import.meta.url), "utf8");
  const monitor = parseAllDocuments(golden)
    .map((document) => document.toJS() as PodMonitor | null)
    .find((object) => object?.kind === "PodMonitor");
  const relabelings = monitor?.spec.podMetricsEndpoints[0]?.metricRelabelings ?? [];
  return relabelings
    .filter(({ action }) => action !== "drop")
    .map(({ sourceLabels, targetLabel, ...more }) => ({
      ...more,
      ...(sourceLabels && { source_labels: sourceLabels }),
      ...(targetLabel && { target_label: targetLabel }),
    }));
}

interface PodMonitor {
  readonly kind: string;
  readonly spec: { readonly podMetricsEndpoints: readonly { readonly metricRelabelings: readonly Relabeling[] }[] };
}

interface Relabeling {
  readonly sourceLabels?: readonly string[];
  readonly targetLabel?: string;
  readonly regex: string;
  readonly action?: string;
}

interface ApiReply {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly {
      readonly metric: Record<string, string>;
      readonly value?: readonly [number, string];
      readonly values?: readonly (readonly [number, string])[];
    }[];
  };
}
