// Turns what a request's credential proved into what `/whoami` says of its caller. Asks no store; members that a caller has not are absent.

import type { Access, Role } from "../../core/config/types.ts";
import { type Caller, creatorOf } from "../authenticate/caller.ts";
import type { Proof } from "../authenticate/create-authentication.ts";

/** `kind` and `name` are what `_metadata` of the caller's objects has as `creator_type` and `creator`. */
export interface CallerView {
  readonly kind: Caller["kind"];
  readonly name: string;
  readonly role?: Role;
  readonly access?: Access;
  /** Unix seconds from which the credential is refused. */
  readonly expires?: number;
  readonly session_id?: string;
}

export function describeCaller({ caller, validUntil }: Pick<Proof, "caller" | "validUntil">): CallerView {
  const { kind } = caller;
  const name = creatorOf(caller);
  if (kind === "anonymous") return { kind, name };
  const { role, access } = caller;
  return {
    kind,
    name,
    role,
    access,
    ...(Number.isFinite(validUntil) && { expires: Math.floor(validUntil / 1000) }),
    ...(kind === "user" && { session_id: caller.sessionId }),
  };
}
