// Turns what a request's credential proved into what `/whoami` says of its caller. Asks no store; members that a caller has not are absent.

import type { Access, Role } from "../../core/config/types.ts";
import { type Caller, creatorOf } from "../authenticate/caller.ts";
import type { Proof } from "../authenticate/create-authentication.ts";
import { skewSeconds } from "../authenticate/external/grant.ts";

/** `kind` and `name` are what `_metadata` of the caller's objects has as `creator_type` and `creator`. */
export interface CallerView {
  readonly kind: Caller["kind"];
  readonly name: string;
  /** Name of the external issuer, with which `name` begins. */
  readonly issuer?: string;
  readonly role?: Role;
  readonly access?: Access;
  /** Unix seconds at which the credential expires. */
  readonly expires?: number;
  readonly session_id?: string;
}

export function describeCaller({ caller, validUntil }: Pick<Proof, "caller" | "validUntil">): CallerView {
  const { kind } = caller;
  const name = creatorOf(caller);
  if (kind === "anonymous") return { kind, name };
  const { role, access } = caller;
  // A client gets its next token by the time that is in the token, not by how far clocks may differ.
  const skew = kind === "external" ? skewSeconds : 0;
  return {
    kind,
    name,
    ...(kind === "external" && { issuer: caller.issuer }),
    role,
    access,
    ...(Number.isFinite(validUntil) && { expires: Math.floor(validUntil / 1000) - skew }),
    ...(kind === "user" && { session_id: caller.sessionId }),
  };
}
