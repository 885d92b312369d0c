// The console's content when somebody signs in or out, on this page or another one. It is rendered
// again, except where that would lose what a person has entered: then it waits behind the form
// until the same person has signed in again, or another person agrees to lose it.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Access, Role } from "../../core/config/types.ts";
import { type SignIn, schemeOf } from "../sign-in/sign-in.ts";
import type { UnsavedChanges } from "./unsaved.ts";

interface SessionState {
  /** Counts changes of who is signed in. */
  readonly changes: number;
  /** Another number: the content is rendered again. */
  readonly contentKey: number;
  readonly isGateOpen: boolean;
  /** Something unsaved waits for the person who was signed in. */
  readonly isKept: boolean;
  /** Somebody else is signed in by now, and asked whether it may be lost. */
  readonly isAsking: boolean;
}

/** For whom the content was loaded. */
export interface Owner {
  readonly name: string;
  /** Of the project, who has a password. */
  readonly isUser: boolean;
  readonly role: Role;
  readonly access: Access;
}

export interface Session extends SessionState {
  /** Undefined: what is shown is for anybody. */
  readonly owner: Owner | undefined;
  readonly openGate: () => void;
  readonly closeGate: () => void;
  /** Loses it, for whoever is signed in now. */
  readonly discard: () => void;
  readonly askToDiscard: () => void;
  readonly keep: () => void;
}

const first: SessionState = { changes: 0, contentKey: 0, isGateOpen: false, isKept: false, isAsking: false };

/** Whoever comes back from an issuer without being signed in reads why. */
function firstOf({ fault }: SignIn): SessionState {
  return { ...first, isGateOpen: fault !== undefined };
}

export function useSession(signIn: SignIn, unsaved: UnsavedChanges): Session {
  const [state, setState] = useState(() => firstOf(signIn));
  const owner = useRef(callerOf(signIn));
  const change = (part: Partial<SessionState>): void => setState((before) => ({ ...before, ...part }));
  const showAnew = (): void => {
    owner.current = callerOf(signIn);
    setState(({ changes, contentKey }) => ({ ...first, changes: changes + 1, contentKey: contentKey + 1 }));
  };
  useEffect(
    () =>
      signIn.onChange(() => {
        if (unsaved.isEmpty) return showAnew();
        const caller = callerOf(signIn);
        // Somebody else gets to see neither what was entered nor what it was made of.
        const isKept = owner.current !== undefined && owner.current.id !== caller?.id;
        if (!isKept) owner.current = caller;
        const isAsking = isKept && caller !== undefined;
        setState((before) => ({ ...before, changes: before.changes + 1, isGateOpen: isKept, isKept, isAsking }));
      }),
    [signIn, unsaved],
  );
  return {
    ...state,
    owner: owner.current,
    openGate: () => change({ isGateOpen: true }),
    closeGate: () => change({ isGateOpen: false }),
    discard: () => {
      unsaved.clear();
      showAnew();
    },
    askToDiscard: () => change({ isAsking: true }),
    keep: () => change({ isAsking: false }),
  };
}

function callerOf({ credential }: SignIn): (Owner & { readonly id: string }) | undefined {
  if (credential === undefined) return undefined;
  const { scheme, issuer, caller } = credential;
  const isUser = scheme === "bearer" && issuer === undefined;
  return {
    id: `${schemeOf(credential)} ${caller.name}`,
    name: caller.name,
    isUser,
    role: caller.role,
    access: caller.access,
  };
}
