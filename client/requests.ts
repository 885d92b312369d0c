// One request, until it is answered: with the credential, a time limit, repetitions where they
// can't do harm, and another token in place of an expired one. Throws Problem, and the reason of
// the caller's signal.

import { backoffMs } from "../core/backoff.ts";
import type { Credential, Credentials } from "./credentials.ts";
import { pause, unlessAborted } from "./pause.ts";
import { Problem, problemOf, unexpected } from "./problem.ts";

export interface Call {
  readonly method?: string | undefined;
  /** Below the project's URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON; undefined = no body. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether it does the same if it takes place twice: then it is repeated when no answer came. By
   * default if it reads.
   */
  readonly isRepeatable?: boolean;
  /** In place of `maxRetries` and of 30 s. */
  readonly retryForMs?: number | undefined;
}

export interface Reply {
  readonly headers: Headers;
  /** Undefined = no content. */
  readonly data: unknown;
}

/** Of one call, however often it is sent: as whom it was begun; null = as nobody. */
interface Sender {
  credential?: Credential | null;
}

export interface RequestSettings {
  /** Without a slash at the end. */
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly parseJson: (text: string) => unknown;
  readonly maxRetries: number;
  readonly timeoutMs: number;
}

const policy = { firstMs: 300, maxMs: 5_000, jitter: 0.5 };
/** fetch resolves it, however it is encoded: what it addresses would be something else. */
const dotSegment = /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;
/** Nothing is sent again later than this: a longer Retry-After is for the caller to decide. */
const defaultRetryForMs = 30_000;

export class Requests {
  readonly #settings: RequestSettings;
  readonly #credentials: Credentials;
  readonly parseJson: RequestSettings["parseJson"];

  constructor(settings: RequestSettings, credentials: Credentials) {
    this.parseJson = settings.parseJson;
    this.#settings = settings;
    this.#credentials = credentials;
  }

  /** The answer, read to its end. `authorization`: in place of the caller's credential. */
  async send(call: Call, authorization?: string): Promise<Reply> {
    const { signal, retryForMs = defaultRetryForMs } = call;
    const sender = authorization ?? {};
    // Goes on evenly, whatever happens to the clock.
    const begun = performance.now();
    let uncertain: Problem | undefined;
    for (let failures = 1; ; failures += 1) {
      const problem = await this.#attempt(call, sender);
      if (!(problem instanceof Problem)) return problem;
      if (uncertain !== undefined && isOutcomeOf(call, problem)) return outcomeOf(call, uncertain);
      const waitMs = this.#waitMs(call, problem, failures);
      if (waitMs === undefined || performance.now() - begun + waitMs > retryForMs) throw problem;
      if (problem.isUncertain) uncertain = problem;
      await pause(waitMs, signal);
    }
  }

  /** Within the time limit. */
  async #attempt({ signal, ...call }: Call, sender: Sender | string): Promise<Reply | Problem> {
    const limit = AbortSignal.timeout(this.#settings.timeoutMs);
    const limited = { ...call, signal: signal === undefined ? limit : AbortSignal.any([signal, limit]) };
    try {
      return await this.#read(limited, sender);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Problem) return error;
      throw error;
    }
  }

  async #read(call: Call, sender: Sender | string): Promise<Reply> {
    const response = await (typeof sender === "string" ? this.#exchange(call, sender) : this.open(call, sender));
    const { status, headers } = response;
    if (status === 204) return { headers, data: undefined };
    const text = await response.text().catch((cause: unknown) => {
      throw noResponse(cause);
    });
    try {
      return { headers, data: this.parseJson(text) };
    } catch (cause) {
      throw unexpected(status, undefined, cause);
    }
  }

  /** The successful answer to one request, and a second one after a token has expired. */
  async open(call: Call, sender: Sender = {}): Promise<Response> {
    const { signal } = call;
    if (sender.credential === undefined)
      sender.credential = (await inTime(this.#credentials.current(), signal)) ?? null;
    const used = sender.credential;
    try {
      return await this.#exchange(call, used?.header);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401 || used === null) throw error;
      const other = error.code === "token_expired" ? await inTime(this.#credentials.renewed(used), signal) : undefined;
      if (other === undefined) this.#credentials.refused(used);
      if (other === undefined) throw error;
      sender.credential = other;
      return await this.#exchange(call, other.header);
    }
  }

  async #exchange({ method = "GET", path, headers, body, signal }: Call, authorization?: string): Promise<Response> {
    if (dotSegment.test(path)) throw new TypeError("A URL can't have . or .. as a key or an id");
    const sent = {
      ...(authorization !== undefined && { Authorization: authorization }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    // A redirected POST may become a GET, and another origin may not see what is sent.
    const fixed = { cache: "no-store", redirect: "manual" } as const;
    const init = { method, headers: sent, ...fixed, ...content, ...(signal && { signal }) };
    const response = await this.#settings.fetch(this.#settings.url + path, init).catch((cause: unknown) => {
      throw noResponse(cause);
    });
    if (response.ok) return response;
    throw await problemOf(response);
  }

  /** Undefined = it isn't sent again. */
  #waitMs(
    { method = "GET", isRepeatable = method === "GET", retryForMs }: Call,
    problem: Problem,
    failures: number,
  ): number | undefined {
    const isEnough = retryForMs === undefined && failures > this.#settings.maxRetries;
    if (isEnough || !isRetryable(problem)) return undefined;
    if (problem.isUncertain && !isRepeatable) return undefined;
    const { retryAfterMs } = problem;
    return retryAfterMs === undefined ? backoffMs(policy, failures) : retryAfterMs + policy.firstMs * Math.random();
  }
}

/** Whether the same may succeed later. */
export function isRetryable(problem: Problem): boolean {
  const { code, status, retryAfterMs } = problem;
  // A person has to wait, not a program.
  if (code === "login_throttled") return false;
  return problem.isUncertain || ([429, 503].includes(status) && retryAfterMs !== undefined);
}

/**
 * Whether an answer may come from one's own request, sent before without an answer: what it was to
 * delete is gone, or its condition is met no more.
 */
function isOutcomeOf({ method, headers }: Call, { status }: Problem): boolean {
  return (method === "DELETE" && status === 404) || (status === 412 && headers?.["If-Match"] !== undefined);
}

function outcomeOf({ headers }: Call, uncertain: Problem): Reply {
  // Somebody else may have changed or deleted it.
  if (headers?.["If-Match"] !== undefined) throw uncertain;
  return { headers: new Headers(), data: undefined };
}

/** A token source may take any time. */
async function inTime<T>(credential: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return await unlessAborted(credential, signal).catch((error: unknown) => {
    throw signal?.aborted ? noResponse(error) : error;
  });
}

function noResponse(cause: unknown): Problem {
  const detail = "No answer came from the server";
  return new Problem({ status: 0, code: "no_response", detail, cause });
}
