// Sends requests exactly as written: paths are not normalised and bodies not re-encoded, as fetch
// would do.

import { type Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";

export interface SentRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or bytes go out as they are, anything else as JSON with its content type. */
  readonly body?: unknown;
  /** Shorthand for the Authorization header. */
  readonly as?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body, parsed; throws when it is not JSON. Typed as the test expects it. */
  json<T = Record<string, unknown>>(): T;
  /** `code` of a problem; undefined without a body, as after HEAD. */
  readonly code: string | undefined;
}

/**
 * `path` goes on the request line as it is. Over a connection of its own, unless an agent keeps
 * some.
 */
export function send(
  origin: string,
  path: string,
  sent: SentRequest = {},
  agent: Agent | false = false,
): Promise<Reply> {
  const { hostname, port } = new URL(origin);
  const { headers, payload } = encode(sent);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ hostname, port, path, method: sent.method ?? "GET", headers, agent }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve(reply(incoming.statusCode ?? 0, incoming.headers, text));
      });
    });
    outgoing.on("error", reject);
    outgoing.end(payload);
  });
}

function encode(sent: SentRequest): { headers: Record<string, string>; payload: string | Uint8Array | undefined } {
  const headers: Record<string, string> = {};
  if (sent.as !== undefined) headers.authorization = sent.as;
  const { body } = sent;
  const raw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const payload = raw ? body : JSON.stringify(body);
  if (payload !== undefined) {
    headers["content-length"] = String(Buffer.byteLength(payload));
    if (!raw) headers["content-type"] = "application/json";
  }
  return { headers: { ...headers, ...sent.headers }, payload };
}

function reply(status: number, headers: IncomingHttpHeaders, text: string): Reply {
  const isProblem = headers["content-type"]?.startsWith("application/problem+json") ?? false;
  return {
    status,
    headers,
    text,
    json: <T>() => JSON.parse(text) as T,
    code: isProblem && text !== "" ? (JSON.parse(text) as { code?: string }).code : undefined,
  };
}
