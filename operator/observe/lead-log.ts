// Logs how this process comes to hold the Lease, and how that ends.

import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { LeadObservation } from "../lead/lead-observation.ts";

/** `namespace` = where the Lease is. */
export function createLeadLog(
  logger: Pick<Logger, "info" | "warn">,
  namespace: string,
): (observation: LeadObservation) => void {
  return (observation) => {
    if (observation.kind === "acquired") logger.info("Leading");
    if (observation.kind === "failed") {
      logger.warn("Failed to acquire Lease", leaseFailure(observation.error, namespace));
    }
    if (observation.kind === "ended") logger.info("No longer leading", { why: observation.why });
    if (observation.kind === "not_given_back") {
      const error = describeError(observation.error);
      logger.warn("Failed to release Lease; other replicas wait until it expires", { error });
    }
  };
}

function leaseFailure(error: unknown, namespace: string): Readonly<Record<string, string>> {
  const { status } = (error ?? {}) as { readonly status?: unknown };
  const advice = `Create the namespace ${namespace}, or name another one with --operator-namespace`;
  return { error: describeError(error), ...(status === 404 && { advice }) };
}
