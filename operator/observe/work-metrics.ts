// The queue and the workers, under the names that client-go and controller-runtime gave them, so that dashboards made for other
// operators show this one too.

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

/** One queue and controller serves a Project with its children, the other one reports that in their statuses. */
const names: Readonly<Record<Stage, string>> = { serve: "project", report: "project-status" };
const stages = ["serve", "report"] as const;
const queueLabels = (stage: Stage) => ({ name: names[stage] });
const controllerLabels = (stage: Stage) => ({ controller: names[stage] });

export function workMetrics(instruments: Instruments, gauges: WorkGauges): WorkMetrics {
  readQueue(instruments, gauges);
  return { observeQueue: queueObserver(instruments), observeWork: workObserver(instruments, gauges.workers) };
}

function readQueue({ read }: Instruments, { queue }: WorkGauges): void {
  const labels = ["name"];
  const gauge = (name: string, help: string, value: (figures: QueueFigures) => number): void =>
    read({ name, help, labels }, () =>
      stages.map((stage) => {
        const figures = queue(stage);
        return { labels: queueLabels(stage), value: figures === undefined ? 0 : value(figures) };
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
  for (const stage of stages) {
    adds.inc(queueLabels(stage), 0);
    retries.inc(queueLabels(stage), 0);
  }
  return (observation) => {
    const ofQueue = queueLabels(observation.stage);
    switch (observation.kind) {
      case "added":
        adds.inc(ofQueue);
        break;
      case "taken":
        waited.observe(ofQueue, observation.waitedSeconds);
        break;
      case "done":
        worked.observe(ofQueue, observation.workedSeconds);
        break;
      case "retried":
        retries.inc(ofQueue);
        break;
    }
  };
}

function workObserver(
  { counter, seconds, read }: Instruments,
  workers: number,
): (observation: WorkObservation, stage?: Stage) => void {
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
  const overdue = counter("jsonplane_reconciles_overdue_total", "Reconciles that took longer than 30 seconds");
  const active = { serve: 0, report: 0 };
  read({ name: "controller_runtime_active_workers", help: "Workers that are at work", labels }, () =>
    stages.map((stage) => ({ labels: controllerLabels(stage), value: active[stage] })),
  );
  read({ name: "controller_runtime_max_concurrent_reconciles", help: "Workers there are", labels }, () =>
    stages.map((stage) => ({ labels: controllerLabels(stage), value: workers })),
  );
  for (const stage of stages) {
    const ofController = controllerLabels(stage);
    for (const result of ["success", "requeue_after", "error", "abandoned"]) total.inc({ ...ofController, result }, 0);
    errors.inc(ofController, 0);
  }
  return (observation, stage = "serve") => {
    const ofController = controllerLabels(stage);
    switch (observation.kind) {
      case "started":
        active[stage] += 1;
        break;
      case "ended":
        active[stage] -= 1;
        total.inc({ ...ofController, result: observation.result });
        if (observation.result === "error") errors.inc(ofController);
        time.observe(ofController, observation.seconds);
        break;
      case "overdue":
        overdue.inc();
        break;
    }
  };
}
