// The workers of a leader: some serve keys, some report in statuses what was served, so that no
// status keeps a Project from being served. What becomes of a key is counted and logged.

import { projectOfKey } from "../../core/config/config-keys.ts";
import { describeError } from "../../core/log/describe-error.ts";
import { RedisRefused } from "../publish/refusals.ts";
import type { Stage } from "../queue/lanes.ts";
import { runWorkers, type WorkersOptions, type WorkObservation } from "../queue/workers.ts";
import type { OperatorContext } from "./operator-context.ts";
import { isOvertaken } from "./process-key.ts";

type Handle = WorkersOptions["handle"];

export interface StageWorkersDeps extends Readonly<Record<Stage, Handle>>, Pick<WorkersOptions, "queue" | "signal"> {
  readonly context: Pick<OperatorContext, "settings" | "timers" | "monotonic" | "metrics" | "logger">;
}

const messages = {
  serve: {
    overdue: "Reconcile of Project takes long; waiting for it",
    failed: "Failed to reconcile Project; trying again",
  },
  report: {
    overdue: "Writing statuses of Project takes long; waiting for it",
    failed: "Failed to write statuses of Project; trying again",
  },
} as const;

/** Resolves when the queue is stopped and every worker has ended. */
export async function runStageWorkers(deps: StageWorkersDeps): Promise<void> {
  const { context, queue, signal } = deps;
  const { settings, timers, monotonic, metrics } = context;
  const run = (stage: Stage): Promise<void> =>
    runWorkers({
      queue,
      stage,
      workers: settings.workers,
      handle: deps[stage],
      signal,
      timers,
      monotonic,
      observe(observation) {
        metrics.observeWork(observation, stage);
        logWork(observation, stage, context.logger);
      },
    });
  await Promise.all([run("serve"), run("report")]);
}

function logWork(observation: WorkObservation, stage: Stage, logger: OperatorContext["logger"]): void {
  if (observation.kind === "started") return;
  const { namespace, name } = projectOfKey(observation.key);
  if (observation.kind === "overdue") {
    logger.warn(messages[stage].overdue, { namespace, name });
    return;
  }
  const { error } = observation;
  if (error === undefined) return;
  const log = isOvertaken(error) || error instanceof RedisRefused ? logger.debug : logger.warn;
  log(messages[stage].failed, { namespace, name, error: describeError(error) });
}
