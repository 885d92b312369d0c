// One exchange with the API server: credentials, connection, deadline, failures. A refused token is read again; a reading is
// then asked once more, a write is left to its caller.

import type { Dispatcher } from "undici";
import { createAgents, type PoolLimits, usualPoolLimits } from "./agents.ts";
import { failure, parsed } from "./answers.ts";
import { ApiFailure, ApiUnreachable, type CallOptions, type ResourceType } from "./api.ts";
import type { CredentialSource, Credentials } from "./credentials.ts";
import { type Deadline, startDeadline } from "./deadline.ts";

/** One call, as metrics count it and rights are compared. */
export interface CallObserved {
  /** Kubernetes' word, as in RBAC: get, list, watch, create, update, patch, delete. */
  readonly verb: string;
  readonly method: string;
  /** HTTP status, or `<error>` when none came. */
  readonly code: string;
  readonly host: string;
  readonly group: string;
  /** With its subresource, as in `projects/status`. */
  readonly resource: string;
  /** Until the answer was read; of a watch, until it began. */
  readonly seconds: number;
}

export interface WireOptions {
  readonly source: CredentialSource;
  readonly observe: (call: CallObserved) => void;
  readonly monotonic: () => number;
  readonly limits?: Partial<WireLimits>;
}

export interface WireLimits extends PoolLimits {
  readonly callMs: number;
  readonly listMs: number;
}

export interface Asked {
  readonly verb: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly type: ResourceType;
  readonly subresource?: string;
  /** Path and query. */
  readonly path: string;
  readonly accept: string;
  readonly body?: { readonly contentType: string; readonly text: string };
}

export interface Wire {
  /** The text of a good answer. */
  call(asked: Asked, options: CallOptions | undefined): Promise<string>;
  /** Pieces of a good answer as they come. The caller ends it by leaving the loop. */
  stream(asked: Asked, options: CallOptions): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const usualLimits: WireLimits = { ...usualPoolLimits, callMs: 10_000, listMs: 60_000 };

export function createWire({ source, observe, monotonic, limits }: WireOptions): Wire {
  const bounds = { ...usualLimits, ...limits };
  const agents = createAgents(bounds);

  async function begin(asked: Asked, deadline: Deadline): Promise<Dispatcher.ResponseData> {
    const credentials = await deadline.race(source.current());
    const pair = agents.of(credentials);
    if (pair === undefined) throw new ApiUnreachable("the connections to the API server are closed");
    const pool = asked.verb === "watch" ? pair.watches : pair.calls;
    const from = monotonic();
    const report = (code: string): void => observe(observation(asked, credentials, { code, from, until: monotonic() }));
    try {
      // Raced as well: undici notices the signal only once a request that waits for a connection has got one.
      const response = await deadline.race(pool.request(requestOf(asked, credentials, deadline.signal)));
      report(String(response.statusCode));
      return response;
    } catch (error) {
      report("<error>");
      throw error;
    }
  }

  /** The response of a good answer; a refusal is read and thrown. */
  async function begun(asked: Asked, deadline: Deadline): Promise<Dispatcher.ResponseData> {
    const first = await begin(asked, deadline);
    if (first.statusCode !== 401) return good(asked, first);
    source.forget();
    if (asked.method !== "GET") return good(asked, first);
    await first.body.dump();
    return good(asked, await begin(asked, deadline));
  }

  return {
    async call(asked, options) {
      const limit = options?.timeoutMs ?? (asked.verb === "list" ? bounds.listMs : bounds.callMs);
      const deadline = startDeadline(options?.signal, limit);
      try {
        const { body } = await begun(asked, deadline);
        return await body.text();
      } catch (error) {
        throw outward(asked, error, options?.signal);
      } finally {
        deadline.end();
      }
    },
    async *stream(asked, options) {
      const deadline = startDeadline(options.signal, options.timeoutMs);
      try {
        const { body } = await begun(asked, deadline);
        yield new Uint8Array(); // The head has come: a sign of life.
        yield* body;
      } catch (error) {
        throw outward(asked, error, options.signal);
      } finally {
        deadline.end();
      }
    },
    close: () => agents.close(),
  };
}

function requestOf(asked: Asked, { server, headers }: Credentials, signal: AbortSignal): Dispatcher.RequestOptions {
  return {
    origin: server.origin,
    path: `${server.pathname.replace(/\/$/, "")}${asked.path}`,
    method: asked.method,
    headers: {
      ...headers,
      accept: asked.accept,
      "user-agent": "jsonplane-operator",
      ...(asked.body !== undefined && { "content-type": asked.body.contentType }),
    },
    ...(asked.body !== undefined && { body: asked.body.text }),
    signal,
  };
}

interface Outcome {
  readonly code: string;
  readonly from: number;
  readonly until: number;
}

function observation(asked: Asked, { server }: Credentials, { code, from, until }: Outcome): CallObserved {
  const { verb, method, type, subresource } = asked;
  const resource = subresource === undefined ? type.plural : `${type.plural}/${subresource}`;
  return { verb, method, code, host: server.host, group: type.group, resource, seconds: (until - from) / 1_000 };
}

async function good(asked: Asked, response: Dispatcher.ResponseData): Promise<Dispatcher.ResponseData> {
  const { statusCode: status, headers, body } = response;
  if (status >= 200 && status < 300) return response;
  const text = await body.text();
  const retryAfter = headers["retry-after"];
  throw failure({
    type: asked.type,
    status,
    body: String(headers["content-type"] ?? "").includes("json") ? parsed(text, what(asked)) : undefined,
    retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
  });
}

function outward(asked: Asked, error: unknown, caller: AbortSignal | undefined): unknown {
  if (caller?.aborted) return caller.reason;
  if (error instanceof ApiFailure || error instanceof ApiUnreachable) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return new ApiUnreachable(`${what(asked)}: ${String(code ?? message)}`, { cause: error });
}

function what({ verb, type }: Asked): string {
  return `${verb} ${type.plural}`;
}
