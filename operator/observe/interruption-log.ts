// Logs failures of lists and watches: each kind's first one and then one a minute, because they are retried every few seconds. Also
// logs watches that missed changes, as a comparison with a list shows.

import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { Monotonic } from "../../core/timers.ts";
import type { ReflectorObservation } from "../watch/reflector-options.ts";
import { createReminders } from "./reminders.ts";

export type InterruptionLog = (kind: string, observation: ReflectorObservation) => void;

export function createInterruptionLog(logger: Logger, monotonic: Monotonic): InterruptionLog {
  const reminders = createReminders(monotonic);
  const failed = (kind: string, error: unknown): void => {
    const log = reminders.isDue(kind) ? logger.warn : logger.debug;
    log("List or watch failed", { kind, error: describeError(error), ...adviceOn(error) });
  };
  return (kind, observation) => {
    // A list alone is no recovery: the watch that follows it may fail again.
    if (observation.what === "watching") reminders.over(kind);
    if (observation.what === "failed") failed(kind, observation.error);
    if (observation.what === "compared" && observation.behind > 0) {
      logger.warn("Watch missed changes; listing again", { kind, objects: observation.behind });
    }
  };
}

function adviceOn(error: unknown): { readonly advice?: string } {
  const { status } = (error ?? {}) as { readonly status?: unknown };
  if (status === 401) return { advice: "The API server doesn't know who asks: look at the token in --kubeconfig" };
  if (status === 403) return { advice: "The operator lacks rights: see deploy/rbac" };
  if (status === 404)
    return { advice: "Install the CRDs as before: helm upgrade, or kubectl apply --server-side -f crds/" };
  return {};
}
