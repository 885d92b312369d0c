// The queue and the workers, under the names that client-go and controller-runtime gave them, so
// that dashboards made for other operators show this one too.

import type { Stage } from "../queue/lanes.ts";
import type { QueueFigures, QueueObservation } from "../queue/work-queue.ts";
import type { WorkObservation } from "../queue/workers.ts";
import type { Instruments } from "./instruments.ts";

export interface WorkGauges {
  /** Undefined while there is no queue. */
  readonly queue: (stage: Stage) => QueueFigures | undefined;
  readonly workers: number;
}

export interface WorkMetrics {
  readonly observeQueue: (observation: QueueObservation) => void;
  readonly observeWork: (observation: WorkObservation, stage?: Stage) => void;
}

/**
 * One queue and controller serves a Project with its children, the other one reports that in their
 * statuses.
 */
const names: Readonly<Record<Stage, string>> = { serve: "project", report: "project-status" };
const stages = ["serve", "report"] as const;

export function workMetrics(instruments: Instruments, { queue, workers }: WorkGauges): WorkMetrics {
  readQueue(instruments, queue);
  return { observeQueue: queueObserver(instruments), observeWork: workObserver(instruments, workers) };
}

function readQueue({ gauges }: Instruments, queue: WorkGauges["queue"]): void {
  const gauge = (name: string, help: string, value: (figures: QueueFigures) => number): void =>
    gauges(name, help, ["name"], () =>
      stages.map((stage) => {
        const figures = queue(stage);
        return { labels: { name: names[stage] }, value: figures === undefined ? 0 : value(figures) };
      }),
    );
  gauge("workqueue_depth", "Keys that wait for a worker", ({ live, bulk }) => live + bulk);
  gauge("workqueue_unfinished_work_seconds", "Time that the keys in work have been worked on, added up", (figures) =>
    figures.workingSeconds.reduce((sum, seconds) => sum + seconds, 0),
  );
  gauge(
    "workqueue_longest_running_processor_seconds",
    "Time that the oldest key in work has been worked on",
    (figures) => Math.max(0, ...figures.workingSeconds),
  );
  gauge("jsonplane_queue_delayed", "Keys that are due later: retries, expiries", ({ delayed }) => delayed);
}

function queueObserver({ counter, seconds }: Instruments): (observation: QueueObservation) => void {
  const labels = ["name"];
  const adds = counter("workqueue_adds_total", "Keys added that did not wait already", labels);
  const retries = counter("workqueue_retries_total", "Keys that were put back after a failure", labels);
  const waited = seconds("workqueue_queue_duration_seconds", "How long keys waited for a worker", labels);
  const worked = seconds("workqueue_work_duration_seconds", "How long keys were worked on", labels);
  for (const name of Object.values(names)) for (const each of [adds, retries]) each.inc({ name }, 0);
  return (observation) => {
    const queue = { name: names[observation.stage] };
    switch (observation.kind) {
      case "added":
        adds.inc(queue);
        break;
      case "taken":
        waited.observe(queue, observation.waitedSeconds);
        break;
      case "done":
        worked.observe(queue, observation.workedSeconds);
        break;
      case "retried":
        retries.inc(queue);
        break;
    }
  };
}

function workObserver({ counter, seconds, gauges }: Instruments, workers: number): WorkMetrics["observeWork"] {
  const labels = ["controller"];
  const total = counter(
    "controller_runtime_reconcile_total",
    "Reconciles by result: success, requeue_after (it comes again at a known moment), error, abandoned (cut off by a stop)",
    ["controller", "result"],
  );
  const errors = counter(
    "controller_runtime_reconcile_errors_total",
    "Reconciles that failed and are tried again",
    labels,
  );
  const time = seconds("controller_runtime_reconcile_time_seconds", "Duration of reconciles", labels);
  const active = { serve: 0, report: 0 };
  const ofEach = (value: (stage: Stage) => number) => () =>
    stages.map((stage) => ({ labels: { controller: names[stage] }, value: value(stage) }));
  gauges(
    "controller_runtime_active_workers",
    "Workers that are at work",
    labels,
    ofEach((stage) => active[stage]),
  );
  gauges(
    "controller_runtime_max_concurrent_reconciles",
    "Workers there are",
    labels,
    ofEach(() => workers),
  );
  for (const controller of Object.values(names)) {
    for (const result of ["success", "requeue_after", "error", "abandoned"]) total.inc({ controller, result }, 0);
    errors.inc({ controller }, 0);
  }
  return (observation, stage = "serve") => {
    if (observation.kind === "started") active[stage] += 1;
    if (observation.kind !== "ended") return;
    active[stage] -= 1;
    const controller = names[stage];
    total.inc({ controller, result: observation.result });
    if (observation.result === "error") errors.inc({ controller });
    time.observe({ controller }, observation.seconds);
  };
}
