// One HTTP request to a test's API server as one of its users: what kubectl would do in half a
// second, and what it doesn't do, such as headers and answers as they are. Rejects only when there
// is no answer.

import { type Agent, type RequestOptions, request } from "node:https";
import type { TestUser } from "./api-server-users.ts";

/** Where requests go. */
export interface ApiTarget {
  /** `https://127.0.0.1:…` */
  readonly url: string;
  /** Keeps connections, and knows the server's certificate. */
  readonly agent: Agent;
  /** Bearer token of that user. */
  token(user?: TestUser): Promise<string>;
}

export interface ApiCall {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  /** Default application/json. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly as?: TestUser;
}

export interface ApiAnswer {
  readonly status: number;
  /** The object, or the Status that says why there is none. */
  readonly body: ApiObject;
}

export interface ApiObject {
  readonly [name: string]: unknown;
  readonly metadata?: { readonly [name: string]: unknown };
  /** Of a Status. */
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly message?: string }[] };
}

/** An answer that is a refusal. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;

  constructor(asked: string, { status, body }: ApiAnswer) {
    super(`${asked}: ${JSON.stringify(body)}`);
    this.status = status;
  }
}

/** `path` with its query, such as `/api/v1/namespaces?dryRun=All`. */
export async function apiCall(target: ApiTarget, path: string, call: ApiCall = {}): Promise<ApiAnswer> {
  const { method = "GET", body, contentType = "application/json", accept } = call;
  const headers = {
    authorization: `Bearer ${await target.token(call.as)}`,
    ...(body !== undefined && { "content-type": contentType }),
    ...(accept !== undefined && { accept }),
  };
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const { status, text } = await exchange(`${target.url}${path}`, { method, headers, agent: target.agent }, payload);
  return { status, body: JSON.parse(text) as ApiObject };
}

/** The same, which rejects with ApiRefusal as well. */
export async function apiObject(target: ApiTarget, path: string, call: ApiCall = {}): Promise<ApiObject> {
  const answer = await apiCall(target, path, call);
  if (answer.status >= 300) throw new ApiRefusal(`${call.method ?? "GET"} ${path}`, answer);
  return answer.body;
}

/**
 * Lets a call be refused with this status, such as 409 where the object may be there, and rejects
 * as it does otherwise.
 */
export async function unlessRefused(status: number, call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof ApiRefusal && error.status === status)) throw error;
  }
}

interface Received {
  readonly status: number;
  readonly text: string;
}

function exchange(url: string, options: RequestOptions, payload: string | undefined): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // A kept connection that the server closed before it read the request.
      if (sent.reusedSocket && error.code === "ECONNRESET") resolve(exchange(url, options, payload));
      else reject(error);
    });
    sent.end(payload);
  });
}
