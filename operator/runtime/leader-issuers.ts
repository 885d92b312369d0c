// External issuers in a leader's session: which ones Projects may name, and what those have
// published. Logged where an issuer can't be reached any more, and where it can again.

import { isIssuerAllowed } from "../../core/env/issuer-rules.ts";
import { describeError } from "../../core/log/describe-error.ts";
import { fetchClusterIssuer, fetchIssuer } from "../issuers/fetch-issuer.ts";
import { FetchFailure } from "../issuers/fetch-text.ts";
import { createIssuerFetcher, type FetchObservation, type IssuerFetcher } from "../issuers/issuer-fetcher.ts";
import type { KubeDocuments } from "../kube/api.ts";
import type { IssuerSource, IssuersContext } from "../model/issuers.ts";
import type { OperatorContext } from "./operator-context.ts";

export type LeaderIssuers = IssuersContext & IssuerFetcher;

export interface LeaderIssuersDeps {
  readonly context: OperatorContext;
  readonly api: KubeDocuments;
  readonly enqueue: (key: string) => void;
}

export function createLeaderIssuers({ context, api, enqueue }: LeaderIssuersDeps): LeaderIssuers {
  const { settings, timers, monotonic, random, logger, fetchLimits } = context;
  const { addresses: rules, refetchAfterMs } = fetchLimits;
  const fetcher = createIssuerFetcher({
    fetch: (source, signal) =>
      source.kind === "cluster"
        ? fetchClusterIssuer(api, signal)
        : fetchIssuer(source.url, { rules, certificateAuthority: source.certificateAuthority, signal }),
    onChange: (projects) => {
      for (const project of projects) enqueue(project);
    },
    observe: (observation) => log(observation, logger),
    ...{ timers, monotonic, random, refetchAfterMs },
  });
  return Object.assign(fetcher, { isAllowed: (url: string) => isIssuerAllowed(settings.allowedIssuers, url) });
}

function log(observation: FetchObservation, logger: OperatorContext["logger"]): void {
  const issuer = issuerOf(observation.source);
  switch (observation.kind) {
    case "fetched":
      logger.debug("Keys of an external issuer fetched", { issuer });
      break;
    case "failed": {
      const { error } = observation;
      const detail = error instanceof FetchFailure ? error.detail : undefined;
      const facts = { issuer, error: error.message, detail, cause: describeError(firstCause(error)) };
      logger.debug("Failed to fetch the keys of an external issuer", facts);
      break;
    }
    case "lost":
      // Of what a former leader has published, this one knows nothing.
      logger.warn(
        observation.keepsKeys
          ? "Keys of an external issuer can't be fetched; keeping the previous ones"
          : "Keys of an external issuer can't be fetched",
        { issuer, error: observation.failure },
      );
      break;
    case "recovered":
      logger.info("Keys of an external issuer can be fetched again", { issuer });
      break;
  }
}

/** Codes of connections and of the resolver, which no status shows. */
function firstCause(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? error : firstCause(cause);
}

function issuerOf(source: IssuerSource): string {
  return source.kind === "cluster" ? "this cluster" : source.url;
}
