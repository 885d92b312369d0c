// One exchange with the API server: credentials, connection, deadline, failures. After a refused token the credentials are loaded
// again; a GET is then repeated once, a write is left to its caller.

import type { Dispatcher } from "undici";
import { createAgents, defaultPoolLimits, type PoolLimits } from "./agents.ts";
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

export interface HttpTransportOptions {
  readonly source: CredentialSource;
  readonly observe: (call: CallObserved) => void;
  readonly monotonic: () => number;
  readonly limits?: Partial<HttpTransportLimits>;
}

export interface HttpTransportLimits extends PoolLimits {
  readonly callMs: number;
  readonly listMs: number;
}

export interface ApiRequest {
  readonly verb: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly type: ResourceType;
  readonly subresource?: string;
  /** Path and query. */
  readonly path: string;
  readonly accept: string;
  readonly body?: { readonly contentType: string; readonly text: string };
}

export interface HttpTransport {
  /** The body of a successful response. */
  call(request: ApiRequest, options: CallOptions | undefined): Promise<string>;
  /** Pieces of a successful response as they arrive. The caller ends it by leaving the loop. */
  stream(request: ApiRequest, options: CallOptions): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const defaultLimits: HttpTransportLimits = { ...defaultPoolLimits, callMs: 10_000, listMs: 60_000 };

export function createHttpTransport({ source, observe, monotonic, limits }: HttpTransportOptions): HttpTransport {
  const bounds = { ...defaultLimits, ...limits };
  const agents = createAgents(bounds);

  async function begin(request: ApiRequest, deadline: Deadline): Promise<Dispatcher.ResponseData> {
    const credentials = await deadline.race(source.current());
    const pair = agents.of(credentials);
    if (pair === undefined) throw new ApiUnreachable("the connections to the API server are closed");
    const pool = request.verb === "watch" ? pair.watches : pair.calls;
    const from = monotonic();
    const report = (code: string): void =>
      observe(observation(request, credentials, { code, from, until: monotonic() }));
    try {
      // Raced as well: undici notices the signal only once a request that waits for a connection has got one.
      const response = await deadline.race(pool.request(requestOf(request, credentials, deadline.signal)));
      report(String(response.statusCode));
      return response;
    } catch (error) {
      report("<error>");
      throw error;
    }
  }

  /** The successful response; a refusal is read and thrown. */
  async function respond(request: ApiRequest, deadline: Deadline): Promise<Dispatcher.ResponseData> {
    const first = await begin(request, deadline);
    if (first.statusCode !== 401) return requireSuccess(request, first);
    source.forget();
    if (request.method !== "GET") return requireSuccess(request, first);
    await first.body.dump();
    return requireSuccess(request, await begin(request, deadline));
  }

  return {
    async call(request, options) {
      const limit = options?.timeoutMs ?? (request.verb === "list" ? bounds.listMs : bounds.callMs);
      const deadline = startDeadline(options?.signal, limit);
      try {
        const { body } = await respond(request, deadline);
        return await body.text();
      } catch (error) {
        throw toApiError(request, error, options?.signal);
      } finally {
        deadline.end();
      }
    },
    async *stream(request, options) {
      const deadline = startDeadline(options.signal, options.timeoutMs);
      try {
        const { body } = await respond(request, deadline);
        yield new Uint8Array(); // The head has come: a sign of life.
        yield* body;
      } catch (error) {
        throw toApiError(request, error, options.signal);
      } finally {
        deadline.end();
      }
    },
    close: () => agents.close(),
  };
}

function requestOf(
  request: ApiRequest,
  { server, headers }: Credentials,
  signal: AbortSignal,
): Dispatcher.RequestOptions {
  return {
    origin: server.origin,
    path: `${server.pathname.replace(/\/$/, "")}${request.path}`,
    method: request.method,
    headers: {
      ...headers,
      accept: request.accept,
      "user-agent": "jsonplane-operator",
      ...(request.body !== undefined && { "content-type": request.body.contentType }),
    },
    ...(request.body !== undefined && { body: request.body.text }),
    signal,
  };
}

interface CallResult {
  readonly code: string;
  readonly from: number;
  readonly until: number;
}

function observation(request: ApiRequest, { server }: Credentials, { code, from, until }: CallResult): CallObserved {
  const { verb, method, type, subresource } = request;
  const resource = subresource === undefined ? type.plural : `${type.plural}/${subresource}`;
  return { verb, method, code, host: server.host, group: type.group, resource, seconds: (until - from) / 1_000 };
}

async function requireSuccess(
  request: ApiRequest,
  response: Dispatcher.ResponseData,
): Promise<Dispatcher.ResponseData> {
  const { statusCode: status, headers, body } = response;
  if (status >= 200 && status < 300) return response;
  const text = await body.text();
  const retryAfter = headers["retry-after"];
  throw failure({
    type: request.type,
    status,
    body: String(headers["content-type"] ?? "").includes("json") ? parsed(text, what(request)) : undefined,
    retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
  });
}

function toApiError(request: ApiRequest, error: unknown, caller: AbortSignal | undefined): unknown {
  if (caller?.aborted) return caller.reason;
  if (error instanceof ApiFailure || error instanceof ApiUnreachable) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return new ApiUnreachable(`${what(request)}: ${String(code ?? message)}`, { cause: error });
}

function what({ verb, type }: ApiRequest): string {
  return `${verb} ${type.plural}`;
}
