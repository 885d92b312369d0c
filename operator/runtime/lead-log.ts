// What an operator's log says of the Lease: who leads, why somebody doesn't, and what a person can
// do.

import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import { isNotFound, isUnauthorized } from "../kube/api.ts";
import { refusedAdvice } from "../kube/connect.ts";
import type { LeadObservation } from "../lead/elector.ts";
import type { OperatorSettings } from "./operator-context.ts";

type LeaseSettings = Pick<OperatorSettings, "namespace">;
type LeadLogger = Pick<Logger, "info" | "warn" | "error">;

export function logLead(observation: LeadObservation, logger: LeadLogger, settings: LeaseSettings): void {
  if (observation.kind === "acquired") logger.info("Acquired Lease");
  if (observation.kind === "failed") logger.warn("Failed to acquire Lease", leaseFailure(observation.error, settings));
  if (observation.kind === "release_failed") {
    logger.warn("Failed to release Lease; other replicas wait until it expires", {
      error: describeError(observation.error),
    });
  }
  if (observation.kind === "ended") logger.info("No longer leading", { why: observation.why });
}

function leaseFailure(error: unknown, { namespace }: LeaseSettings): Readonly<Record<string, string>> {
  const advice = `Create the namespace ${namespace}, or name another one with --operator-namespace`;
  return {
    error: describeError(error),
    ...(isNotFound(error) && { advice }),
    ...(isUnauthorized(error) && { advice: refusedAdvice }),
  };
}
