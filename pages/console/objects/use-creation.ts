// Sends the form for a new object once at a time, with one Idempotency-Key for all attempts, and
// shows what was created.

import { useRef } from "preact/hooks";
import type { Problem } from "../../sign-in/problem.ts";
import { useConsole } from "../console-context.ts";
import { type Sender, sendConditionally } from "../stored/send-conditionally.ts";
import { useIsShown } from "../stored/use-stored-text.ts";
import { go } from "../use-route.ts";
import { type Sending, useSending } from "../use-sending.ts";

export interface Creation extends Pick<Sending, "problem" | "isBusy"> {
  /** `body` = JSON text. */
  readonly create: (body: string) => Promise<void>;
}

export function useCreation(resource: string): Creation {
  const { signIn, unsaved, visited } = useConsole();
  const { problem, isBusy, send } = useSending();
  const idempotencyKey = useRef("");
  const isShown = useIsShown();
  const create = async (body: string): Promise<void> => {
    await send(async () => {
      idempotencyKey.current ||= newIdempotencyKey();
      const created = await createObject(signIn, { resource, body, idempotencyKey: idempotencyKey.current });
      if ("problem" in created) {
        // The person has seen that the first object was stored, and may want a second one.
        if (created.problem.code === "idempotency_key_reused") idempotencyKey.current = "";
        return created.problem;
      }
      if (isShown.current) {
        unsaved.clear();
        visited.leaveWith("Created.");
        go({ kind: "object", resource, id: created.id });
      }
      return undefined;
    });
  };
  return { problem, isBusy, create };
}

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

/** Also where the page was not loaded over HTTPS, in which browsers have no `randomUUID`. */
export function newIdempotencyKey(
  random: { readonly randomUUID?: () => string; getRandomValues(bytes: Uint8Array<ArrayBuffer>): Uint8Array } = crypto,
): string {
  const bytes = (): Uint8Array => random.getRandomValues(new Uint8Array(16));
  return random.randomUUID?.() ?? Array.from(bytes(), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
