// Takes a signing ring through a rotation, one step at a time, each of which is one write: a new key joins and only verifies;
// once every replica knows it, it signs and the former one only verifies; once the last token of the former one has expired,
// it leaves. What was done is remembered beside the ring. Pure: a run that stopped between two steps goes on with the same one.

import type { Json, SigningKey, SigningRing } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import { mintSigningKey, type Random } from "./mint.ts";

export interface RetiringKey {
  readonly kid: string;
  /** Unix milliseconds: from when on another key signed. */
  readonly since: number;
  /** Unix milliseconds: when its last token has expired, by what was known when it ceased to sign. */
  readonly until: number;
}

export interface RingState {
  /** Value of the annotation that was acted upon last. */
  readonly handled?: string;
  /** The key that waits until every replica knows it. */
  readonly pending?: string;
  readonly retiring: readonly RetiringKey[];
  /** How long tokens live at most; absent = never looked at. */
  readonly tokenSeconds?: number;
  /** Unix milliseconds: until when tokens may live that were made while they lived longer. */
  readonly longerTokensUntil?: number;
}

export interface RotatingRing {
  readonly signingRing: SigningRing;
  readonly state: RingState;
}

export interface RotationContext {
  /** Value of the annotation that asks for a new key; absent = no rotation is wanted. */
  readonly wanted: string | undefined;
  /** Every live replica serves the ring that is published. */
  readonly acknowledged: boolean;
  readonly published: SigningRing | undefined;
  readonly tokenSeconds: number;
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
}

export type RingStep = "added" | "rotated" | "retired";

/** Clocks differ, and a replica signs with the former key until it knows the new one. */
const marginMs = 60_000;
/** A ring that is asked for a new key every minute must not grow without end. */
export const maxKeys = 8;

/** What the ring has to be now, and which steps were taken; the same objects when nothing is to be done. */
export function advanceRing(
  { signingRing, state }: RotatingRing,
  context: RotationContext,
): RotatingRing & { readonly steps: readonly RingStep[] } {
  const known = withTokenLife(accountedFor(signingRing, state, context), context);
  const retired = retire({ signingRing, state: known }, context);
  const { pending } = retired.state;
  const isPublished = pending !== undefined && context.published?.keys.some(({ kid }) => kid === pending);
  if (isPublished && context.acknowledged) return stepped(retired, promote(retired, pending, context), "rotated");
  const { wanted } = context;
  const asked = wanted !== undefined && wanted !== retired.state.handled;
  if (!asked || pending !== undefined || retired.signingRing.keys.length >= maxKeys) return retired;
  return stepped(retired, add(retired, wanted, context), "added");
}

/** Unix milliseconds at which a key leaves: a longer life of tokens keeps it longer, a shorter one changes nothing. */
export function retiresAt({ since, until }: RetiringKey, tokenSeconds: number): number {
  return Math.max(until, since + tokenSeconds * 1000 + marginMs);
}

type Stepping = RotatingRing & { readonly steps: readonly RingStep[] };

function stepped(before: Stepping, after: RotatingRing, step: RingStep): Stepping {
  return { ...after, steps: [...before.steps, step] };
}

function add({ signingRing, state }: RotatingRing, wanted: string, { random }: RotationContext): RotatingRing {
  const key: SigningKey = { ...mintSigningKey(random), signs: false };
  return { signingRing: { keys: [...signingRing.keys, key] }, state: { ...state, handled: wanted, pending: key.kid } };
}

function promote(
  { signingRing, state }: RotatingRing,
  pending: string,
  { now, tokenSeconds }: RotationContext,
): RotatingRing {
  const keys = signingRing.keys.map((key) => ({ ...key, signs: key.kid === pending }));
  const until = Math.max(now + tokenSeconds * 1000 + marginMs, state.longerTokensUntil ?? 0);
  const ceased = signingRing.keys.filter(({ signs }) => signs).map(({ kid }) => ({ kid, since: now, until }));
  const { pending: _, ...rest } = state;
  return {
    signingRing: { keys: [...keys.filter(({ signs }) => signs), ...keys.filter(({ signs }) => !signs)] },
    state: { ...rest, retiring: [...state.retiring, ...ceased] },
  };
}

function retire({ signingRing, state }: RotatingRing, { now, tokenSeconds }: RotationContext): Stepping {
  const gone = new Set(state.retiring.filter((key) => retiresAt(key, tokenSeconds) <= now).map(({ kid }) => kid));
  if (gone.size === 0) return { signingRing, state, steps: [] };
  const stays = ({ kid }: { readonly kid: string }): boolean => !gone.has(kid);
  return {
    signingRing: { keys: signingRing.keys.filter(stays) },
    state: { ...state, retiring: state.retiring.filter(stays) },
    steps: ["retired"],
  };
}

/** Keys without a record, as after an edit of the Secret, verify until no token of theirs can be left. */
function accountedFor(signingRing: SigningRing, state: RingState, { now, tokenSeconds }: RotationContext): RingState {
  const signer = signingRing.keys.find(({ signs }) => signs)?.kid;
  const kids = new Set(signingRing.keys.map(({ kid }) => kid));
  const retiring = state.retiring.filter(({ kid }) => kids.has(kid) && kid !== signer);
  const pending = state.pending !== undefined && kids.has(state.pending) && state.pending !== signer;
  const known = new Set([signer, pending ? state.pending : undefined, ...retiring.map(({ kid }) => kid)]);
  const unknown = [...kids].filter((kid) => !known.has(kid));
  if (unknown.length === 0 && pending === (state.pending !== undefined) && retiring.length === state.retiring.length) {
    return state;
  }
  const until = now + tokenSeconds * 1000 + marginMs;
  const { pending: waiting, ...rest } = state;
  return {
    ...rest,
    ...(pending && waiting !== undefined && { pending: waiting }),
    retiring: [...retiring, ...unknown.map((kid) => ({ kid, since: now, until }))],
  };
}

/** Remembers how long tokens may live that were made before their life was made shorter. */
function withTokenLife(state: RingState, { tokenSeconds, now }: RotationContext): RingState {
  const before = state.tokenSeconds;
  if (before === tokenSeconds) return state;
  if (before === undefined || before < tokenSeconds) return { ...state, tokenSeconds };
  const longer = Math.max(state.longerTokensUntil ?? 0, now + before * 1000 + marginMs);
  return { ...state, tokenSeconds, longerTokensUntil: longer };
}

/** Undefined when it is not what `JSON.stringify` makes of one. */
export function readRingState(text: string | undefined): RingState | undefined {
  if (text === undefined) return undefined;
  const value = parseOrUndefined(text);
  return isState(value) ? (value as unknown as RingState) : undefined;
}

function isState(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { handled, pending, retiring, tokenSeconds, longerTokensUntil } = value;
  return (
    [handled, pending].every((text) => text === undefined || typeof text === "string") &&
    [tokenSeconds, longerTokensUntil].every((time) => time === undefined || typeof time === "number") &&
    Array.isArray(retiring) &&
    retiring.every(isRetiring)
  );
}

function isRetiring(value: Json): boolean {
  return (
    isObject(value) &&
    typeof value["kid"] === "string" &&
    typeof value["since"] === "number" &&
    typeof value["until"] === "number"
  );
}
