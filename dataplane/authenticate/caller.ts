// Who sends a request, as authentication leaves it to authorization and to the log line.

import type { Access, Role } from "../../core/config/types.ts";
import type { Owner } from "../store/ports/refs.ts";

interface AnonymousCaller {
  readonly kind: "anonymous";
}

interface UserCaller {
  readonly kind: "user";
  readonly name: string;
  readonly role: Role;
  readonly access: Access;
  readonly sessionId: string;
}

interface KeyCaller {
  readonly kind: "apikey";
  /** Name of the ApiKey object. */
  readonly name: string;
  readonly description: string;
  readonly role: Role;
  readonly access: Access;
}

/** A caller that an external issuer names. */
export interface ExternalCaller {
  readonly kind: "external";
  /** The issuer's name in the project, which has no slash. */
  readonly issuer: string;
  readonly username: string;
  readonly role: Role;
  readonly access: Access;
}

export type Caller = AnonymousCaller | UserCaller | KeyCaller | ExternalCaller;

export const anonymous: AnonymousCaller = Object.freeze({ kind: "anonymous" });

/** `creator` of what the caller makes; `creator_type` is its kind. */
export function creatorOf(caller: Caller): string {
  switch (caller.kind) {
    case "anonymous":
      return "anonymous";
    case "external":
      return `${caller.issuer}/${caller.username}`;
    default:
      return caller.name;
  }
}

/** Members of the log line that name the caller. */
export function logMembersOf(caller: Caller): string {
  const member = `,"caller":${JSON.stringify(caller.kind === "anonymous" ? "anonymous" : ownerOf(caller))}`;
  return caller.kind === "apikey" ? `${member},"keyDescription":${JSON.stringify(caller.description)}` : member;
}

/** A user, a key and an issuer's caller of the same name are different owners. */
export function ownerOf(caller: Caller): Owner {
  return `${caller.kind}:${creatorOf(caller)}`;
}
