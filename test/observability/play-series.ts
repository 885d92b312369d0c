// Plays series to queries in promtool, which compares the answers: for what takes longer than a
// test can wait.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { findPrometheus } from "../../tools/parts/prometheus.ts";
import { runCommand } from "../../tools/parts/run-command.ts";

export interface PlayedSeries {
  readonly series: string;
  /** promtool's notation, a sample every 30 seconds. */
  readonly values: string;
}

export interface ExpectedAnswer {
  readonly expr: string;
  readonly at: string;
  /** None = no answer. */
  readonly samples: readonly { readonly labels: string; readonly value: number }[];
}

export interface Played {
  readonly series: readonly PlayedSeries[];
  readonly answers: readonly ExpectedAnswer[];
  /** Files of recording rules. */
  readonly rules?: readonly string[];
}

/** What promtool says against the answers; empty = they are as expected. */
export async function playSeries({ series, answers, rules = [] }: Played): Promise<string> {
  const { promtool } = await findPrometheus(process.env);
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-promtool-"));
  const file = join(folder, "played.yaml");
  const promqlTests = answers.map(({ expr, at, samples }) => ({ expr, eval_time: at, exp_samples: samples }));
  const test = { interval: "30s", input_series: series, promql_expr_test: promqlTests };
  try {
    await writeFile(file, stringify({ rule_files: rules, evaluation_interval: "30s", tests: [test] }));
    const { code, stderr } = await runCommand(promtool, ["test", "rules", file]);
    return code === 0 ? stderr : `promtool ended with ${code}: ${stderr}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
