// Reads and writes the value at a path of a root key over the public API. What the server refuses comes back as its problem, and a server
// that can't be reached as a problem with status 0.

import { type Problem, problemOf, type SignIn } from "../../sign-in/sign-in.ts";
import { unreachable } from "../fault.tsx";

export interface Answer {
  readonly ok: true;
  /** JSON text as it is stored. */
  readonly text: string;
  readonly tag: string | undefined;
}

export interface Refusal {
  readonly ok: false;
  readonly problem: Problem;
  /** Of a 412: the tag that is stored now; undefined where nothing is. */
  readonly tag: string | undefined;
}

export interface ValueRequest {
  /** Relative to the project's URL. */
  readonly url: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** JSON text. */
  readonly body?: string;
  /** The write takes place only while this is stored. */
  readonly ifMatch?: string | undefined;
}

export async function sendValue(signIn: SignIn, request: ValueRequest): Promise<Answer | Refusal> {
  const { url, method, body, ifMatch } = request;
  const headers = new Headers();
  if (body !== undefined) headers.set("Content-Type", "application/json");
  if (ifMatch !== undefined) headers.set("If-Match", ifMatch);
  try {
    // Not from the browser's memory: what is shown is what is stored.
    const cache = "no-store";
    const response = await signIn.send(url, { method, headers, cache, ...(body !== undefined && { body }) });
    const tag = response.headers.get("ETag") ?? undefined;
    if (!response.ok) return { ok: false, problem: await problemOf(response), tag };
    return { ok: true, text: await response.text(), tag };
  } catch {
    return { ok: false, problem: unreachable, tag: undefined };
  }
}

/** What a person is told of a refusal. */
export function wordsOf({ status, title, detail = "" }: Problem, signIn: SignIn): string {
  switch (status) {
    case 0:
      return "The server can't be reached. Try again.";
    case 401:
      return signIn.credential === undefined
        ? "You have to sign in for this."
        : "Your credentials are no longer accepted. Sign out, and sign in again.";
    case 403:
      return `You may not do this. ${detail}`;
    case 404:
      return `There is nothing at this path, or no longer. ${detail}`;
    default:
      return `${title}. ${detail}`;
  }
}
