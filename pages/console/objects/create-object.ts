// Creates an object, once however often the same form sends it: each form has a key of its own (Idempotency-Key).

import type { Problem } from "../../sign-in/problem.ts";
import { type Sender, sendConditionally } from "../stored/send-conditionally.ts";

export interface NewObjectRequest {
  readonly resource: string;
  /** JSON text. */
  readonly body: string;
  readonly idempotencyKey: string;
}

/** Its id, or why it was refused. */
export async function createObject(
  signIn: Sender,
  { resource, body, idempotencyKey }: NewObjectRequest,
): Promise<{ readonly id: string } | { readonly problem: Problem }> {
  const url = `api/${encodeURIComponent(resource)}`;
  const answer = await sendConditionally(signIn, { url, method: "POST", body, idempotencyKey });
  return answer.ok ? (JSON.parse(answer.text) as { readonly id: string }) : { problem: answer.problem };
}

interface RandomSource {
  readonly randomUUID?: () => string;
  getRandomValues(bytes: Uint8Array<ArrayBuffer>): Uint8Array;
}

/** Also where the page was not loaded over HTTPS, in which browsers have no `randomUUID`. */
export function newIdempotencyKey(random: RandomSource = crypto): string {
  const bytes = (): Uint8Array => random.getRandomValues(new Uint8Array(16));
  return random.randomUUID?.() ?? Array.from(bytes(), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
