// Turns a Project and its signing Secret into the ring of keys that sign its tokens. A lost ring
// comes back from what is published; otherwise a new one is made, and all sessions end.
//
// A rotation takes one step at a time, each of which is one write: a new key is added and only
// verifies; once every replica has it, it signs and the former one only verifies; once the last
// token of the former one has expired, that is removed. The entry `rotation` says how far it is.

import { durationSeconds } from "../../core/config/duration.ts";
import type { Json, SigningKey, SigningRing } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { entryText } from "../../core/manifests/secret.ts";
import type { Project } from "../model/objects.ts";
import { signingSecretName } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import { type CredentialEvent, type CredentialEventReason, credentialEvent } from "./credential-event.ts";
import { mintSigningKey, type Random, signingKeyOf } from "./mint.ts";
import { ownSecret, rewritten, writeOf } from "./own-secret.ts";
import { earliest, type ResolveTools, type SecretWrite } from "./resolution.ts";

/** A new value of this annotation of a Project makes a new signing key. */
export const rotateSigningKeyAnnotation = "jsonplane.io/rotate-signing-key";
/** Characters of that value that count. The Secret stores them beside the ring. */
const maxRotationLength = 253;
/** A ring that is asked for a new key every minute must not grow without end. */
const maxKeys = 8;
/** Clocks differ, and a replica signs with the former key until it has the new one. */
const marginMs = 60_000;

export interface SigningResolution {
  readonly ring: Result<SigningRing>;
  readonly writes: readonly SecretWrite[];
  readonly events: readonly CredentialEvent[];
  /** A ring was made although there was one before: sessions end. */
  readonly replaced: boolean;
  /** A new key waits for `ringAcknowledged`. */
  readonly waits: boolean;
  /** Unix milliseconds: when a key leaves the ring. */
  readonly nextAt?: number;
}

export interface SigningTools extends Pick<ResolveTools, "findSecret" | "random" | "now" | "hmacKey" | "restore"> {
  /**
   * Every live replica has acknowledged the revision that published `published`, or a newer one.
   */
  readonly ringAcknowledged: boolean;
}

/** `live`: the ring that is published now. */
export function resolveSigning(
  project: Project,
  live: SigningRing | undefined,
  tools: SigningTools,
): SigningResolution {
  const published = ringOrUndefined(live);
  const name = signingSecretName(project);
  const secret = ownSecret(project, name, tools, published !== undefined);
  if (!secret.ok) return refused(secret);
  const { found, content, hasOwnAnnotations, isRestored } = secret.value;
  const context = rotationContext(project, published, tools);
  const before = ringBefore(content, context);
  const after = advanceRing(before, context);

  const isRingChanged = before.source !== "secret" || after.signingRing !== before.signingRing;
  const isImmutable = found?.immutable === true;
  if (isRingChanged && isImmutable) {
    const message = `Secret "${name}" is immutable and has to change; delete it: the keys come from what is published`;
    return refused(refuse("SecretConflict", message));
  }
  // The state of a rotation can wait where the Secret is immutable; keys can't.
  const isWritten = (isRingChanged || after.state !== before.state || !hasOwnAnnotations) && !isImmutable;
  const entries = { ring: JSON.stringify(after.signingRing), rotation: JSON.stringify(after.state) };
  // Where something deletes the ring again and again, each repair makes another one.
  const cause = before.source === "new" ? { causeId: "no ring" } : {};
  const writes = isWritten ? [writeOf(project, tools, found, { name, entries, ...cause })] : [];
  const repairs = isRestored || before.source === "published" ? rewritten(project, writes, isRestored) : [];
  const replaced = isReplaced(project, content, before);
  const steps = after.steps.map((step) => credentialEvent(project, ...stepEvents[step]));
  const leaving = after.state.retiring.map((key) => retiresAt(key, context.tokenSeconds));
  const nextAt = earliest(leaving, tools.now);
  return {
    ring: { ok: true, value: after.signingRing },
    writes,
    events: [...repairs, ...(replaced ? [ringReplaced(project)] : []), ...steps],
    replaced,
    waits: after.state.pending !== undefined,
    ...(nextAt !== undefined && { nextAt }),
  };
}

interface RingBefore extends RotatingRing {
  readonly source: "secret" | "published" | "new";
}

/** A new ring counts as made for the rotation that is wanted now. */
function ringBefore(content: Secret | undefined, context: RotationContext): RingBefore {
  const { published, random, wanted, tokenSeconds } = context;
  const state = readRotation(entryText(content, "rotation")) ?? { retiring: [] };
  const stored = readRing(content);
  if (stored !== undefined) return { signingRing: stored, state, source: "secret" };
  if (published !== undefined) return { signingRing: published, state, source: "published" };
  const fresh: SigningRotation = { ...(wanted !== undefined && { handled: wanted }), retiring: [], tokenSeconds };
  return { signingRing: { keys: [mintSigningKey(random)] }, state: fresh, source: "new" };
}

/** A ring was made although there was one before. */
function isReplaced({ status }: Project, content: Secret | undefined, { source }: RingBefore): boolean {
  return source === "new" && (content !== undefined || status?.liveGeneration !== undefined);
}

function rotationContext(project: Project, published: SigningRing | undefined, tools: SigningTools): RotationContext {
  return {
    wanted: project.metadata.annotations?.[rotateSigningKeyAnnotation]?.slice(0, maxRotationLength),
    tokenSeconds: durationSeconds(project.spec.sessions.refreshTokenTTL) ?? 0,
    acknowledged: tools.ringAcknowledged,
    published,
    now: tools.now,
    random: tools.random,
  };
}

const stepEvents: Readonly<Record<SigningStep, readonly [CredentialEventReason, string]>> = {
  added: ["SigningKeyAdded", "Created a signing key; it signs as soon as every replica knows it"],
  rotated: ["SigningKeyRotated", "The new signing key signs; the former one verifies until its last token has expired"],
  retired: ["SigningKeyRetired", "A former signing key was removed: no token of it is left"],
};

function ringReplaced(project: Project): CredentialEvent {
  const lost = `The signing keys in Secret "${signingSecretName(project)}" were lost and recreated: all sessions have ended`;
  return credentialEvent(project, "SigningRingReplaced", lost);
}

function refused(ring: ReturnType<typeof refuse>): SigningResolution {
  return { ring, writes: [], events: [], replaced: false, waits: false };
}

/** The ring of a signing Secret; undefined where the operator can't have made it. */
export function readRing(secret: Secret | undefined): SigningRing | undefined {
  return ringOrUndefined(parseOrUndefined(entryText(secret, "ring") ?? ""));
}

function ringOrUndefined(value: unknown): SigningRing | undefined {
  return isRing(value) ? { keys: value.keys.map(({ kid, signs, x, d }) => ({ kid, signs, x, d })) } : undefined;
}

/**
 * Whether it is a ring that `advanceRing` makes: that of a restored Secret may be anybody's, and is
 * published.
 */
function isRing(value: unknown): value is SigningRing {
  const keys = (value as { readonly keys?: unknown } | null | undefined)?.keys;
  if (!Array.isArray(keys) || keys.length > maxKeys || !keys.every(isSigningKey)) return false;
  return keys.filter(({ signs }) => signs).length === 1 && new Set(keys.map(({ kid }) => kid)).size === keys.length;
}

function isSigningKey(value: unknown): value is SigningKey {
  const { kid, x, d, signs } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const secret = Buffer.from(typeof d === "string" ? d : "", "base64url");
  if (secret.length !== 32 || typeof signs !== "boolean") return false;
  const made = signingKeyOf(secret);
  return kid === made.kid && x === made.x && d === made.d;
}

export interface RetiringKey {
  readonly kid: string;
  /** Unix milliseconds: from when on another key signed. */
  readonly since: number;
  /**
   * Unix milliseconds: when its last token has expired, by what was known when it ceased to sign.
   */
  readonly until: number;
}

export interface SigningRotation {
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
  readonly state: SigningRotation;
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

export type SigningStep = "added" | "rotated" | "retired";

/**
 * What the ring has to be now, and which steps were taken; the same objects when nothing is to be
 * done.
 */
function advanceRing(
  { signingRing, state }: RotatingRing,
  context: RotationContext,
): RotatingRing & { readonly steps: readonly SigningStep[] } {
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

/**
 * Unix milliseconds at which a key leaves: a longer life of tokens keeps it longer, a shorter one
 * changes nothing.
 */
export function retiresAt({ since, until }: RetiringKey, tokenSeconds: number): number {
  return Math.max(until, since + tokenSeconds * 1000 + marginMs);
}

type Stepping = RotatingRing & { readonly steps: readonly SigningStep[] };

function stepped(before: Stepping, after: RotatingRing, step: SigningStep): Stepping {
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

/**
 * Keys without a record, as after an edit of the Secret, verify until no token of theirs can be
 * left.
 */
function accountedFor(
  signingRing: SigningRing,
  state: SigningRotation,
  { now, tokenSeconds }: RotationContext,
): SigningRotation {
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
function withTokenLife(state: SigningRotation, { tokenSeconds, now }: RotationContext): SigningRotation {
  const before = state.tokenSeconds;
  if (before === tokenSeconds) return state;
  if (before === undefined || before < tokenSeconds) return { ...state, tokenSeconds };
  const longer = Math.max(state.longerTokensUntil ?? 0, now + before * 1000 + marginMs);
  return { ...state, tokenSeconds, longerTokensUntil: longer };
}

/** Undefined when it is not what `JSON.stringify` makes of one. */
function readRotation(text: string | undefined): SigningRotation | undefined {
  if (text === undefined) return undefined;
  const value = parseOrUndefined(text);
  return isState(value) ? (value as unknown as SigningRotation) : undefined;
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
