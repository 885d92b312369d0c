// How the fleet's ring gets a new key while everything goes on being served, one step at a time.
// Pure: what the Secret says and what is known of the fleet in, the next step out.
//
//   idle ──annotation──> append ──all replicas have it──> promote
//        ──all sealed again, all replicas know──> drop ──> idle
//
// Every step is one PUT of the Secret, and what it leads to can be read there, so that a crash
// anywhere costs nothing.

import { type Keyring, maxKeys, type RingKey } from "../../core/config/keyring.ts";
import type { RingState } from "./ring-secret.ts";

export interface RingFacts {
  /** Key ids that every live replica has; undefined while there is none. */
  readonly commonKids: ReadonlySet<string> | undefined;
  /**
   * Key ids that something in Redis is sealed with; asked for only where `needsSealedWith` says so.
   */
  readonly sealedWith: ReadonlySet<string>;
  /** Every live replica can no longer serve what was published before all was sealed again. */
  readonly programmed: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

export type RingStep =
  | { readonly step: "none" }
  /** `why`, for a log line: no secret in it. */
  | { readonly step: "wait"; readonly why: string }
  /** A new key comes into the ring; it seals nothing yet. */
  | { readonly step: "append" }
  /** The new key becomes the first: it seals from now on. */
  | { readonly step: "promote"; readonly kid: string }
  /** What other keys sealed is sealed again. */
  | { readonly step: "reseal" }
  /** Only these keys stay. */
  | { readonly step: "drop"; readonly keep: ReadonlySet<string> };

/**
 * Without a live replica the new key may seal this long after it came into the Secret. A replica
 * that starts later mounts the Secret as it is then, and one that a node restarts in its old pod
 * has the newer file within kubelet's sync period, a minute by default.
 */
export const unseenMilliseconds = 120_000;

/**
 * Whether the next step depends on what is sealed with which key, which takes a look at all of
 * Redis' configuration.
 */
export function needsSealedWith(state: RingState): boolean {
  return isResealing(state) || (isDue(state) && state.keyring.keys.length >= maxKeys);
}

export function nextRingStep(state: RingState, facts: RingFacts): RingStep {
  const { rotating } = state;
  // Someone put a former ring back while a rotation was under way: its key has to come back.
  const lost = rotating !== undefined && keyOf(state.keyring, rotating) === undefined;
  if (lost || (rotating === undefined && isDue(state))) return append(state, facts);
  if (rotating === undefined) return { step: "none" };
  return isResealing(state) ? finish(state.keyring, facts) : spread(state, rotating, facts);
}

function isDue({ rotate, rotated, rotating, keyring }: RingState): boolean {
  if (rotating !== undefined) return keyOf(keyring, rotating) === undefined;
  return rotate !== undefined && rotate !== rotated;
}

function isResealing({ keyring, rotating }: RingState): boolean {
  return keyring.keys[0].kid === rotating;
}

function append({ keyring }: RingState, { sealedWith }: RingFacts): RingStep {
  const { keys } = keyring;
  if (keys.length < maxKeys) return { step: "append" };
  const keep = new Set(keys.filter(({ kid }, at) => at === 0 || sealedWith.has(kid)).map(({ kid }) => kid));
  if (keep.size < keys.length) return { step: "drop", keep };
  return { step: "wait", why: `The ring has ${maxKeys} keys and all of them are in use` };
}

function spread({ since }: RingState, kid: string, { commonKids, now }: RingFacts): RingStep {
  if (commonKids?.has(kid)) return { step: "promote", kid };
  if (commonKids !== undefined) return { step: "wait", why: "Some replicas do not have the new key yet" };
  if (now - since >= unseenMilliseconds) return { step: "promote", kid };
  return { step: "wait", why: "No replica is running; one that starts may still have the former Secret" };
}

function finish({ keys }: Keyring, { commonKids, sealedWith, programmed }: RingFacts): RingStep {
  const [{ kid }, ...others] = keys;
  // What a key sealed that is in no ring any more can't be opened, with or without this rotation.
  if (others.some((other) => sealedWith.has(other.kid))) return { step: "reseal" };
  const seen = commonKids === undefined || (commonKids.has(kid) && programmed);
  if (!seen) return { step: "wait", why: "Some replicas have not taken over what the new key sealed" };
  return { step: "drop", keep: new Set([kid]) };
}

function keyOf({ keys }: Keyring, kid: string): RingKey | undefined {
  return keys.find((key) => key.kid === kid);
}
