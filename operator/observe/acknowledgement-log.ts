// Logs acknowledgements and usage figures that can't be read: immediately and then once a minute, for they are looked at many times a second while somebody
// waits for them.

import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { Monotonic } from "../../core/timers.ts";
import type { LookObservation } from "../publish/acknowledgements.ts";
import { createReminders } from "./reminders.ts";

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

type Failure = Exclude<LookObservation, { readonly kind: "looked" }>;

function lineOf(failure: Failure): Parameters<Logger["warn"]> {
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

function factsOf(error: unknown): { readonly error: string; readonly advice?: string } {
  return { error: describeError(error), ...adviceOn(error) };
}

function adviceOn(error: unknown): { readonly advice?: string } {
  // The store's errors have the reply of Redis as their cause.
  const messages = [error, (error as { readonly cause?: unknown } | undefined)?.cause]
    .map((each) => describeError(each))
    .join(" ");
  return messages.includes("NOPERM")
    ? { advice: "The operator's Redis user lacks rights: see docs/reference/redis.md" }
    : {};
}
