// Turns whatever was thrown into the one error shape, RFC 9457 `application/problem+json`: the only
// place that maps errors to statuses. What it does not know is a defect: `internal_error`, without
// its cause.

import { type ErrorCode, errorCatalogue } from "../errors/catalogue.ts";
import { Problem } from "../errors/problem.ts";
import {
  NoReplica,
  NotReplicated,
  OutcomeUnknown,
  StoredByOtherVersion,
  StoreFull,
  StoreUnavailable,
  WriteConflict,
  WritesRefused,
} from "../errors/store-errors.ts";

export interface ProblemResponse {
  readonly status: number;
  readonly code: ErrorCode;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True for a defect, which the program logs with its stack. */
  readonly defect: boolean;
}

/** Where the problem occurred, as the client knows it. */
export interface Occurrence {
  readonly path: string;
  readonly requestId: string;
}

const instanceLimit = 512;

export function problemResponse(error: unknown, occurrence: Occurrence): ProblemResponse {
  const problem = asProblem(error);
  const { status, title } = errorCatalogue[problem.code];
  const body = {
    type: `urn:jsonplane:error:${problem.code}`,
    title,
    status,
    detail: problem.message,
    instance: occurrence.path.slice(0, instanceLimit),
    code: problem.code,
    requestId: occurrence.requestId,
    ...(problem.errors && { errors: problem.errors }),
  };
  return {
    status,
    code: problem.code,
    text: JSON.stringify(body),
    headers: problem.headers,
    defect: problem.code === "internal_error",
  };
}

function whyUnavailable(error: StoreUnavailable): string {
  if (error instanceof WritesRefused)
    return "The store accepts no writes at the moment; nothing was done. Reads still work; try again";
  if (error instanceof StoredByOtherVersion)
    return "Another version of jsonplane has changed how this is stored; nothing was done. An administrator has to update the data plane";
  if (error instanceof NoReplica)
    return "The store keeps no second copy at the moment, which the Project's `spec.durability` asks for; nothing was done";
  return "The store can't be reached; nothing was done. Try again";
}

/** What a client is told of it. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreFull) {
    return new Problem(
      "store_full",
      "The store is full; nothing was done. Reads and deletions still work: delete something, or ask an administrator for more room",
    );
  }
  if (error instanceof StoreUnavailable) {
    return new Problem("store_unavailable", whyUnavailable(error), { headers: { "Retry-After": "1" } });
  }
  if (error instanceof WriteConflict) {
    return new Problem(
      "write_conflict",
      "Other writes to this object or value kept winning; nothing was done. Try again",
      {
        headers: { "Retry-After": "1" },
      },
    );
  }
  if (error instanceof OutcomeUnknown) {
    return new Problem(
      "outcome_unknown",
      error instanceof NotReplicated
        ? "The store answered the write, but confirmed no second copy in time, which the Project's `spec.durability` asks for; what was written may yet be lost"
        : "The write was sent to the store, but its answer never came; read before you write again",
      {
        headers: { "Retry-After": "1" },
      },
    );
  }
  return (
    frameworkProblem(error) ??
    new Problem("internal_error", "The service failed; its log has an entry with this requestId")
  );
}

/** What fastify and Node's HTTP parser refuse by themselves, recognised by their codes. */
function frameworkProblem(error: unknown): Problem | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new Problem(
        "headers_too_large",
        "The request line and headers together are too large; send fewer or shorter headers",
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Problem("request_timeout", "The request did not arrive in time; send it without pauses");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Problem("unsupported_media_type", "Send the body as JSON, with `Content-Type: application/json`");
    default:
      return typeof code === "string" && /^(?:HPE_|FST_ERR_(?:BAD_URL|CTP))/.test(code)
        ? new Problem("invalid_request", "The request is not valid HTTP")
        : undefined;
  }
}
