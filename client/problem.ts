// What a request is refused with, as one error: the server's problem (RFC 9457), or that no answer
// came.

export interface ProblemInit {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: Problem["errors"];
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Codes of problems that this client finds itself. */
export type ClientCode =
  /** Status 0: no answer came in time, or at all. A write may have taken place. */
  | "no_response"
  /** The answer is not the server's, but for example that of a proxy. */
  | "unexpected_response";

export class Problem<Code extends string = string> extends Error {
  override readonly name = "Problem";
  /** For programs; docs/reference/errors.md lists them. */
  readonly code: Code | ClientCode;
  /** Of the response; 0 where none came. */
  readonly status: number;
  /** For people: what is wrong, and what to send instead. */
  readonly detail: string;
  /** Places in the body that are wrong, each by its JSON pointer. */
  readonly errors: readonly { readonly pointer: string; readonly keyword?: string; readonly message: string }[];
  /** By which the server's log names the request. */
  readonly requestId: string | undefined;
  /** How long to wait before the same may succeed, where the server says so. */
  readonly retryAfterMs: number | undefined;

  constructor(init: ProblemInit) {
    super(init.detail, { cause: init.cause });
    this.code = init.code as Code;
    this.status = init.status;
    this.detail = init.detail;
    this.errors = init.errors ?? [];
    this.requestId = init.requestId;
    this.retryAfterMs = init.retryAfterMs;
  }

  /** Whether a write may have taken place in spite of this. */
  get isUncertain(): boolean {
    const { code, status, retryAfterMs } = this;
    if (code === "outcome_unknown" || code === "no_response") return true;
    // A 503 that says when to come again has reached no server.
    return code === "unexpected_response" && status >= 500 && !(status === 503 && retryAfterMs !== undefined);
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  const { status, headers } = response;
  const isOurs = headers.get("Content-Type")?.startsWith("application/problem+json") === true;
  const retryAfterMs = retryAfterOf(headers);
  try {
    if (isOurs) return new Problem({ ...((await response.json()) as ProblemInit), status, retryAfterMs });
    await response.body?.cancel();
    return unexpected(status, retryAfterMs);
  } catch (cause) {
    return unexpected(status, retryAfterMs, cause);
  }
}

/** Of seconds or of a date (RFC 9110 §10.2.3), which proxies send. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get("Retry-After") ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const [at, now] = [Date.parse(text), Date.parse(headers.get("Date") ?? "") || Date.now()];
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

export function unexpected(status: number, retryAfterMs?: number, cause?: unknown): Problem {
  const detail = `Something other than the server answered, with status ${status}: is the URL the project's?`;
  return new Problem({ status, code: "unexpected_response", detail, retryAfterMs, cause });
}
