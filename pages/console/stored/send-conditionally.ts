// Sends a request over the public API, on a condition if any. A refusal is returned as its problem,
// and an unreachable server as a problem with status 0.

import { type Problem, problemOf } from "../../sign-in/problem.ts";
import { unreachable } from "../describe-problem.ts";

/** What SignIn is here: sends with the credentials of the caller. */
export interface Sender {
  send(input: string, init: RequestInit): Promise<Response>;
}

export type Answer =
  /** `text` is JSON as it is stored. */
  | {
      readonly ok: true;
      readonly text: string;
      readonly etag?: string;
      /** `Changes-Position`: from where changes of what was read can be followed. */
      readonly position?: string;
    }
  /** `etag` is that of a 412: what is stored now; undefined where nothing is. */
  | { readonly ok: false; readonly problem: Problem; readonly etag?: string };

export interface ConditionalRequest {
  /** Relative to the project's URL. */
  readonly url: string;
  readonly method: "GET" | "PUT" | "POST" | "PATCH" | "DELETE";
  readonly body?: string;
  /** JSON, where it isn't said. */
  readonly contentType?: string;
  /** The write takes place only while this is stored, or only while nothing is. */
  readonly condition?: { readonly etag: string } | "nothing stored";
  readonly idempotencyKey?: string;
}

/** A connection may be dead without a sign of it: another one is made for what is read again. */
const maxReadMs = 60_000;

export function readTimeout(): AbortSignal {
  return AbortSignal.timeout(maxReadMs);
}

export async function sendConditionally(signIn: Sender, request: ConditionalRequest): Promise<Answer> {
  const { url, method, body } = request;
  try {
    // Not from the browser's cache: what is shown is what is stored.
    const ends = method === "GET" ? { signal: readTimeout() } : {};
    const init = { method, headers: headersOf(request), cache: "no-store", ...ends } as const;
    const response = await signIn.send(url, body === undefined ? init : { ...init, body });
    // The server's tags are strong. A proxy that compresses writes `W/`, which never matches
    // If-Match.
    const etag = response.headers.get("ETag")?.replace(/^W\//, "");
    const tagged = etag === undefined ? {} : { etag };
    if (!response.ok) return { ok: false, problem: await problemOf(response), ...tagged };
    const position = response.headers.get("Changes-Position");
    return { ok: true, text: await response.text(), ...tagged, ...(position !== null && { position }) };
  } catch {
    return { ok: false, problem: unreachable };
  }
}

function headersOf({ body, contentType, condition, idempotencyKey }: ConditionalRequest): Headers {
  const headers = new Headers();
  if (body !== undefined) headers.set("Content-Type", contentType ?? "application/json");
  if (condition === "nothing stored") headers.set("If-None-Match", "*");
  else if (condition !== undefined) headers.set("If-Match", condition.etag);
  if (idempotencyKey !== undefined) headers.set("Idempotency-Key", idempotencyKey);
  return headers;
}
