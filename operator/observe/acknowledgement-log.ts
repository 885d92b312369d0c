// Logs acknowledgements that can't be read: at once and then once a minute, for they are looked at many times a second while somebody
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
    if (observation.kind === "failed" && reminders.isDue("failed")) {
      const { error } = observation;
      logger.warn("Failed to read acknowledgements of replicas", { error: describeError(error), ...adviceOn(error) });
    }
    if (observation.kind === "unreadable" && reminders.isDue("unreadable")) {
      const { replica, fields } = observation;
      logger.warn("Acknowledgement of a replica is not valid; ignoring the fields", {
        replica,
        fields: fields.join(", "),
      });
    }
  };
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
