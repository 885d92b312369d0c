// One HTTP request to a test's API server as one of its users, for what kubectl doesn't do: headers, dry runs of broken objects,
// answers as they are. Rejects only when there is no answer.

import { readFile } from "node:fs/promises";
import { request } from "node:https";
import type { TestApiServer, TestUser } from "./api-server.ts";

export interface ApiCall {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  /** Default application/json. */
  readonly contentType?: string;
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

/** `path` with its query, such as `/api/v1/namespaces?dryRun=All`. */
export async function apiCall(server: TestApiServer, path: string, call: ApiCall = {}): Promise<ApiAnswer> {
  const { method = "GET", body, contentType = "application/json" } = call;
  const ca = await readFile(server.certificate);
  const authorization = `Bearer ${await server.token(call.as)}`;
  return new Promise((resolve, reject) => {
    const headers = { authorization, ...(body === undefined ? {} : { "content-type": contentType }) };
    const sent = request(`${server.url}${path}`, { method, headers, ca, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as ApiObject }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
