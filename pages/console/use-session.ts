// What becomes of the console's content when somebody signs in or out, on this page or another one. It is shown anew, except where that
// would lose what a person has entered: then it waits behind the form until the same person has signed in again.

import { useEffect, useRef, useState } from "preact/hooks";
import { type SignIn, schemeOf } from "../sign-in/sign-in.ts";
import type { UnsavedChanges } from "./unsaved.ts";

export interface SessionState {
  /** Counts changes of who is signed in. */
  readonly changes: number;
  /** Another number: the content is shown anew. */
  readonly contentKey: number;
  readonly isGateOpen: boolean;
  /** Something unsaved is kept for the person who was signed in. */
  readonly isKept: boolean;
}

export interface Session extends SessionState {
  readonly openGate: () => void;
  readonly closeGate: () => void;
}

const first: SessionState = { changes: 0, contentKey: 0, isGateOpen: false, isKept: false };

/** Whoever comes back from an issuer without being signed in reads why. */
function firstOf({ fault }: SignIn): SessionState {
  return { ...first, isGateOpen: fault !== undefined };
}

export function useSession(signIn: SignIn, unsaved: UnsavedChanges): Session {
  const [state, setState] = useState(() => firstOf(signIn));
  /** For whom the content was loaded; undefined: for anybody. */
  const owner = useRef(callerOf(signIn));
  useEffect(
    () =>
      signIn.onChange(() => {
        const caller = callerOf(signIn);
        const isKept = !unsaved.isEmpty && (caller === undefined || [undefined, caller].includes(owner.current));
        const isSignedOut = isKept && caller === undefined;
        // Somebody else gets to see neither what was entered nor what it was made of.
        if (!isKept) unsaved.clear();
        if (!isSignedOut) owner.current = caller;
        setState(({ changes, contentKey }) => ({
          changes: changes + 1,
          contentKey: isKept ? contentKey : contentKey + 1,
          isGateOpen: isSignedOut,
          isKept: isSignedOut,
        }));
      }),
    [signIn, unsaved],
  );
  const setGate = (isGateOpen: boolean) => setState((before) => ({ ...before, isGateOpen }));
  return { ...state, openGate: () => setGate(true), closeGate: () => setGate(false) };
}

function callerOf({ credential }: SignIn): string | undefined {
  return credential === undefined ? undefined : `${schemeOf(credential)} ${credential.caller.name}`;
}
