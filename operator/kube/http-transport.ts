// One exchange with the API server: credentials, connection, time limit, failures. After a 401 the
// credentials are loaded again for the next call.

import { Agent, type Dispatcher, ProxyAgent } from "undici";
import { failure, parsed } from "./answers.ts";
import { ApiFailure, ApiUnreachable, type CallOptions, type ResourceType, type WatchOptions } from "./api.ts";
import { joinSignals, untilAborted } from "./signals.ts";

/** What is needed to talk to one API server. */
export interface Credentials {
  /** May have a path, as behind a gateway for many clusters. */
  readonly server: URL;
  /** Authorization and impersonation; never logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** PEM texts. `rejectUnauthorized` false = the kubeconfig asks for insecure-skip-tls-verify. */
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly servername?: string;
    readonly rejectUnauthorized?: boolean;
  };
  readonly proxy?: string;
}

export interface CredentialSource {
  /** The namespace of the context or of the service account. */
  readonly namespace: string;
  /** Tokens and certificates are short-lived files: they are read again every few seconds. */
  current(): Promise<Credentials>;
  /** After the server refused them: drops what is cached, the output of an exec plugin included. */
  forget(): void;
}

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
  /** Until the answer began. */
  readonly seconds: number;
}

export interface HttpTransportOptions {
  readonly source: CredentialSource;
  readonly observe: (call: CallObserved) => void;
  readonly monotonic: () => number;
  readonly limits?: Partial<HttpTransportLimits>;
}

export interface HttpTransportLimits {
  /** Connections for calls at the same time; further calls wait. */
  readonly connections: number;
  readonly connectMs: number;
  /** From the request to the answer's head. */
  readonly headersMs: number;
  /** Between two chunks of an answer; watches have no such limit. */
  readonly bodyMs: number;
  readonly callMs: number;
  readonly listMs: number;
}

export const defaultLimits: HttpTransportLimits = {
  connections: 16,
  connectMs: 5_000,
  headersMs: 15_000,
  bodyMs: 30_000,
  callMs: 10_000,
  listMs: 60_000,
};

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
  /** Chunks of a successful response as they arrive. The caller ends it by leaving the loop. */
  stream(request: ApiRequest, options: WatchOptions): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

export function createHttpTransport({ source, observe, monotonic, limits }: HttpTransportOptions): HttpTransport {
  const bounds = { ...defaultLimits, ...limits };
  const pools = createPools(bounds);

  /** The successful response; a refusal is read and thrown. */
  async function respond(request: ApiRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const credentials = await untilAborted(source.current(), signal);
    const pool = pools.of(credentials)?.[request.verb === "watch" ? "watches" : "calls"];
    if (pool === undefined) throw new ApiUnreachable("the connections to the API server are closed");
    const from = monotonic();
    const report = (code: string): void => {
      const { verb, method, type, subresource } = request;
      const resource = subresource === undefined ? type.plural : `${type.plural}/${subresource}`;
      const seconds = (monotonic() - from) / 1_000;
      observe({ verb, method, code, host: credentials.server.host, group: type.group, resource, seconds });
    };
    let response: Dispatcher.ResponseData;
    try {
      // Raced as well: undici sees the signal only once a request that waits for a connection has
      // got one.
      response = await untilAborted(pool.request(requestOf(request, credentials, signal)), signal);
    } catch (error) {
      report("<error>");
      throw error;
    }
    report(String(response.statusCode));
    if (response.statusCode === 401) source.forget();
    if (response.statusCode >= 200 && response.statusCode < 300) return response;
    throw await refusal(request, response);
  }

  return {
    async call(request, options) {
      const limitMs = options?.timeoutMs ?? (request.verb === "list" ? bounds.listMs : bounds.callMs);
      const either = joinSignals([options?.signal, AbortSignal.timeout(Math.ceil(limitMs))]);
      try {
        const { body } = await respond(request, either.signal);
        return await body.text();
      } catch (error) {
        throw toApiError(request, error, options?.signal);
      } finally {
        either.end();
      }
    },
    async *stream(request, { signal, onBytes }) {
      const own = joinSignals([signal]);
      try {
        const { body } = await respond(request, own.signal);
        onBytes?.(); // The head is a sign of life.
        for await (const chunk of body) {
          onBytes?.();
          yield chunk;
        }
      } catch (error) {
        throw toApiError(request, error, signal);
      } finally {
        own.end();
      }
    },
    close: () => pools.close(),
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

async function refusal(
  request: ApiRequest,
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
): Promise<ApiFailure> {
  const text = await body.text();
  const isJson = String(headers["content-type"] ?? "").includes("json");
  const retryAfter = headers["retry-after"];
  return failure(request.type, {
    status,
    body: isJson ? parsed(text, what(request)) : undefined,
    retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
  });
}

function toApiError(request: ApiRequest, error: unknown, caller: AbortSignal | undefined): unknown {
  if (caller?.aborted) return caller.reason;
  if (error instanceof ApiFailure || error instanceof ApiUnreachable) return error;
  const { name, code, message } = error as { readonly [member in "name" | "code" | "message"]?: unknown };
  const why = name === "TimeoutError" ? "no answer in time" : (code ?? message);
  return new ApiUnreachable(`${what(request)}: ${String(why)}`, { cause: error });
}

function what({ verb, type }: ApiRequest): string {
  return `${verb} ${type.plural}`;
}

// ----------------------------------------------------------------------------------- connections

interface Pools {
  readonly calls: Dispatcher;
  /** Unbounded: how long a watch may be silent is the reflector's business. */
  readonly watches: Dispatcher;
}

/**
 * The pools for these credentials, made again when the server's CA, the client's certificate or the
 * proxy changes.
 */
export function createPools(limits: HttpTransportLimits) {
  const open = new Set<Dispatcher>();
  let present: { readonly key: string; readonly pools: Pools } | undefined;
  let closed = false;
  const closeWhenIdle = (pool: Dispatcher): void => {
    const forget = (): void => void open.delete(pool);
    pool.close().then(forget, forget);
  };
  return {
    /** Undefined once closed. */
    of(credentials: Credentials): Pools | undefined {
      if (closed) return undefined;
      const key = JSON.stringify([credentials.tls, credentials.proxy]);
      if (present?.key === key) return present.pools;
      if (present !== undefined) Object.values(present.pools).forEach(closeWhenIdle);
      const pools = { calls: pool(credentials, limits, false), watches: pool(credentials, limits, true) };
      open.add(pools.calls).add(pools.watches);
      present = { key, pools };
      return pools;
    },
    /** Cuts whatever is under way. */
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...open].map((pool) => pool.destroy()));
    },
  };
}

function pool({ tls, proxy }: Credentials, limits: HttpTransportLimits, watches: boolean): Dispatcher {
  const common = {
    // With HTTP/2 all calls would share one connection, its failures and its flow-control window.
    allowH2: false,
    connections: watches ? null : limits.connections,
    headersTimeout: limits.headersMs,
    bodyTimeout: watches ? 0 : limits.bodyMs,
  };
  const connect = { timeout: limits.connectMs, keepAlive: true, keepAliveInitialDelay: 30_000 };
  if (proxy === undefined) return new Agent({ ...common, connect: { ...connect, ...tls } });
  return new ProxyAgent({
    ...common,
    uri: proxy,
    requestTls: { ...connect, ...tls },
    proxyTls: connect,
    connectTimeout: limits.connectMs,
  });
}
