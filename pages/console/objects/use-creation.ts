// What a form for a new object does: sends it once at a time, with one Idempotency-Key for all attempts, and shows what was created.

import { useRef, useState } from "preact/hooks";
import type { Problem } from "../../sign-in/problem.ts";
import { useConsole } from "../console-context.ts";
import { useIsShown } from "../stored/use-stored-text.ts";
import { go } from "../use-route.ts";
import { createObject, newIdempotencyKey } from "./create-object.ts";

export interface Creation {
  /** Why the last attempt was refused. */
  readonly problem: Problem | undefined;
  readonly isBusy: boolean;
  /** `body` = JSON text. */
  readonly create: (body: string) => Promise<void>;
}

export function useCreation(resource: string): Creation {
  const { signIn, unsaved } = useConsole();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  /** Two keys may be pressed before the page is drawn again. */
  const isSending = useRef(false);
  const idempotencyKey = useRef("");
  const isShown = useIsShown();
  const create = async (body: string): Promise<void> => {
    if (isSending.current) return;
    isSending.current = true;
    setBusy(true);
    setProblem(undefined);
    idempotencyKey.current ||= newIdempotencyKey();
    const created = await createObject(signIn, { resource, body, idempotencyKey: idempotencyKey.current });
    isSending.current = false;
    setBusy(false);
    if ("problem" in created) {
      setProblem(created.problem);
      // The person has been told of the first object, and may want a second one.
      if (created.problem.code === "idempotency_key_reused") idempotencyKey.current = "";
    } else if (isShown.current) {
      unsaved.clear();
      go({ kind: "object", resource, id: created.id });
    }
  };
  return { problem, isBusy, create };
}
