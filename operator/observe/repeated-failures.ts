// Logs failures that are met again and again: immediately, and then once a minute until they are
// over.

import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { Monotonic } from "../../core/timers.ts";
import type { LookObservation } from "../publish/acknowledgements.ts";
import type { ReflectorObservation } from "../watch/reflector-options.ts";

export interface Reminders {
  /** True where `what` was not logged within the last minute; it counts as logged then. */
  isDue(what: string): boolean;
  /** The next time it is logged immediately. */
  over(what: string): void;
}

const againMs = 60_000;

export function createReminders(monotonic: Monotonic): Reminders {
  const remindedAt = new Map<string, number>();
  return {
    isDue(what) {
      const before = remindedAt.get(what);
      if (before !== undefined && monotonic() - before < againMs) return false;
      remindedAt.set(what, monotonic());
      return true;
    },
    over: (what) => void remindedAt.delete(what),
  };
}

export type InterruptionLog = (kind: string, observation: ReflectorObservation) => void;

/**
 * Logs failures of lists and watches by kind, and watches that missed changes, as a comparison with
 * a list shows.
 */
export function createInterruptionLog(logger: Logger, monotonic: Monotonic): InterruptionLog {
  const reminders = createReminders(monotonic);
  return (kind, observation) => {
    switch (observation.what) {
      // A list alone is no recovery: the watch that follows it may fail again.
      case "watching":
        reminders.over(kind);
        break;
      case "failed": {
        const log = reminders.isDue(kind) ? logger.warn : logger.debug;
        log("List or watch failed", { kind, ...factsOf(observation.error) });
        break;
      }
      case "compared":
        if (observation.behind === 0) break;
        logger.warn("Watch missed changes; listing again", { kind, objects: observation.behind });
        break;
      case "sinkFailed":
        logger.error("Failed to process a change of an object", { kind, error: describeError(observation.error) });
        break;
      default:
    }
  };
}

/**
 * Logs acknowledgements and usage figures that can't be read: they are asked for many times a
 * second while somebody waits.
 */
export function createAcknowledgementLog(
  logger: Pick<Logger, "warn">,
  monotonic: Monotonic,
): (observation: LookObservation) => void {
  const reminders = createReminders(monotonic);
  return (observation) => {
    if (observation.kind === "looked") reminders.over("failed");
    else if (reminders.isDue(observation.kind)) logger.warn(...lineOf(observation));
  };
}

function lineOf(failure: Exclude<LookObservation, { readonly kind: "looked" }>): Parameters<Logger["warn"]> {
  switch (failure.kind) {
    case "failed":
      return ["Failed to read acknowledgements of replicas", factsOf(failure.error)];
    case "unreadable": {
      const { replica, fields } = failure;
      return ["Acknowledgement of a replica is not valid; ignoring the fields", { replica, fields: fields.join(", ") }];
    }
    case "usageFailed":
      return ["Failed to read usage figures of replicas; keeping the previous ones", factsOf(failure.error)];
    case "unreadableUsage": {
      const { replica, projects, error } = failure;
      const facts =
        error === undefined
          ? { replica, projects: projects.length, one: projects[0] }
          : { replica, error: describeError(error) };
      return ["Usage figures of a replica are not valid; ignoring them", facts];
    }
  }
}

const adviceByStatus: Readonly<Record<number, string>> = {
  401: "The API server doesn't know who asks: look at the token in --kubeconfig",
  403: "The operator lacks rights: see deploy/rbac",
  404: "Install the CRDs as before: helm upgrade, or kubectl apply --server-side -f charts/jsonplane/files/crds/",
};

function factsOf(error: unknown): { readonly error: string; readonly advice?: string } {
  const { status, cause } = (error ?? {}) as { readonly status?: number; readonly cause?: unknown };
  // The store's errors have the reply of Redis as their cause.
  const isRefused = [error, cause].some((each) => describeError(each).includes("NOPERM"));
  const advice = isRefused
    ? "The operator's Redis user lacks rights: see docs/reference/redis.md"
    : adviceByStatus[status ?? 0];
  return { error: describeError(error), ...(advice !== undefined && { advice }) };
}
