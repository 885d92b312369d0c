// Tells of another installation with a copy of the key ring on the same Redis: at once and then once a minute, where it is, so that a person
// finds it.

import type { Logger } from "../../core/log/logger.ts";
import type { Monotonic } from "../../core/timers.ts";
import type { ContestObservation } from "../publish/contest.ts";
import { createReminders } from "./reminders.ts";

const messages = {
  answered: "Another installation with a copy of the key ring writes to this Redis, which is left to it",
  asked: "Another installation with a copy of the key ring wants to write to this Redis, which this one keeps",
} as const satisfies Record<ContestObservation["kind"], string>;

export function createContestLog(
  logger: Pick<Logger, "warn">,
  monotonic: Monotonic,
): (observation: ContestObservation) => void {
  const reminders = createReminders(monotonic);
  return ({ kind, place }) => {
    if (!reminders.isDue(kind)) return;
    const [namespace = "", secretUid = ""] = place.split("/");
    logger.warn(messages[kind], { namespace, secretUid });
  };
}
