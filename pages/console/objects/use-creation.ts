// What a form for a new object does: sends it once at a time, with one Idempotency-Key for all attempts, and shows what was created.

import { useRef } from "preact/hooks";
import { useConsole } from "../console-context.ts";
import { useIsShown } from "../stored/use-stored-text.ts";
import { go } from "../use-route.ts";
import { type Sending, useSending } from "../use-sending.ts";
import { createObject, newIdempotencyKey } from "./create-object.ts";

export interface Creation extends Pick<Sending, "problem" | "isBusy"> {
  /** `body` = JSON text. */
  readonly create: (body: string) => Promise<void>;
}

export function useCreation(resource: string): Creation {
  const { signIn, unsaved } = useConsole();
  const { problem, isBusy, send } = useSending();
  const idempotencyKey = useRef("");
  const isShown = useIsShown();
  const create = async (body: string): Promise<void> => {
    await send(async () => {
      idempotencyKey.current ||= newIdempotencyKey();
      const created = await createObject(signIn, { resource, body, idempotencyKey: idempotencyKey.current });
      if ("problem" in created) {
        // The person has been told of the first object, and may want a second one.
        if (created.problem.code === "idempotency_key_reused") idempotencyKey.current = "";
        return created.problem;
      }
      if (isShown.current) {
        unsaved.clear();
        go({ kind: "object", resource, id: created.id });
      }
      return undefined;
    });
  };
  return { problem, isBusy, create };
}
