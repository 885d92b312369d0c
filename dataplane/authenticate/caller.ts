// Who sends a request, as authentication leaves it to authorization and to the log line.

import type { Access, Role } from "../../core/config/types.ts";
import type { Owner } from "../store/ports/refs.ts";

export interface AnonymousCaller {
  readonly kind: "anonymous";
}

export interface UserCaller {
  readonly kind: "user";
  readonly name: string;
  readonly role: Role;
  readonly access: Access;
  readonly sessionId: string;
}

export interface KeyCaller {
  readonly kind: "apikey";
  /** Name of the ApiKey object. */
  readonly name: string;
  readonly description: string;
  readonly role: Role;
  readonly access: Access;
}

export type Caller = AnonymousCaller | UserCaller | KeyCaller;

export const anonymous: AnonymousCaller = Object.freeze({ kind: "anonymous" });

/** `creator` of what the caller makes; `creator_type` is its kind. */
export function creatorOf(caller: Caller): string {
  return caller.kind === "anonymous" ? "anonymous" : caller.name;
}

/** Members of the log line that name the caller. */
export function logMembersOf(caller: Caller): string {
  if (caller.kind !== "apikey") {
    return `,"caller":${JSON.stringify(caller.kind === "anonymous" ? "anonymous" : `user:${caller.name}`)}`;
  }
  return `,"caller":${JSON.stringify(`apikey:${caller.name}`)},"keyDescription":${JSON.stringify(caller.description)}`;
}

/** A user and a key of one name are two owners. */
export function ownerOf(caller: Caller): Owner {
  return `${caller.kind}:${creatorOf(caller)}`;
}
