// Sends what a form holds, once at a time, and keeps why it was refused.

import { useRef, useState } from "preact/hooks";
import type { Problem } from "../sign-in/problem.ts";

export interface Sending {
  /** Why the last attempt was refused. */
  readonly problem: Problem | undefined;
  readonly isBusy: boolean;
  /** True once `request` has succeeded; false at once while another one is under way. */
  readonly send: (request: () => Promise<Problem | undefined>) => Promise<boolean>;
}

export function useSending(): Sending {
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  /** Two keys may be pressed before the page is drawn again. */
  const isSending = useRef(false);
  const send = async (request: () => Promise<Problem | undefined>): Promise<boolean> => {
    if (isSending.current) return false;
    isSending.current = true;
    setBusy(true);
    // So that a second refusal for the same reason is read out as well.
    setProblem(undefined);
    const refused = await request();
    isSending.current = false;
    setBusy(false);
    setProblem(refused);
    return refused === undefined;
  };
  return { problem, isBusy, send };
}
