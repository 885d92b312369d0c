// What `compile` says of each object, besides the configuration: accepted, or refused with a reason
// and the place.

import type { Kind } from "../../core/manifests/object.ts";
import type { NoticeReason, Reason } from "./reasons.ts";

export interface Subject {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Notice {
  readonly reason: NoticeReason;
  readonly message: string;
  /** RFC 6901 pointer into the object, `/spec/…`. */
  readonly pointer?: string;
}

/** One thing that is wrong with an object. */
export interface Fault {
  readonly message: string;
  /**
   * RFC 6901 pointer into the object, `/spec/…`; absent when no place in the object is at fault.
   */
  readonly pointer?: string;
}

export interface Accepted extends Subject {
  readonly accepted: true;
  readonly notices: readonly Notice[];
}

export interface Refused extends Subject {
  readonly accepted: false;
  readonly reason: Reason;
  /** At least one; the first is the one to show where there is room for one. */
  readonly faults: readonly [Fault, ...Fault[]];
  /** True when the last good version of the object is part of the configuration. */
  readonly live: boolean;
  /** Set when what is live is the present spec, less what is at fault. */
  readonly partly?: true;
}

export type Verdict = Accepted | Refused;

/** Refusal of one object by one rule, before it is known whom it concerns. */
export interface Refusal {
  readonly reason: Reason;
  readonly faults: readonly [Fault, ...Fault[]];
}

/** A value, or why there is none. */
export type Result<T> =
  | { readonly ok: true; readonly value: T; readonly notices?: readonly Notice[] }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * What a rule makes of one object. `instead` is what to serve of a refused object, where that is
 * something newer than its last good version.
 */
export type Evaluation<T> = Result<T> | { readonly ok: false; readonly refusal: Refusal; readonly instead: T };

export function refuse(
  reason: Reason,
  message: string,
  pointer?: string,
): { readonly ok: false; readonly refusal: Refusal } {
  const fault: Fault = pointer === undefined ? { message } : { message, pointer };
  return { ok: false, refusal: { reason, faults: [fault] } };
}

/** Refuses with all `faults`, of which there is at least one. */
export function refuseAll(reason: Reason, faults: readonly Fault[]): { readonly ok: false; readonly refusal: Refusal } {
  const [first, ...rest] = faults;
  return { ok: false, refusal: { reason, faults: [first ?? { message: "The object was refused" }, ...rest] } };
}
