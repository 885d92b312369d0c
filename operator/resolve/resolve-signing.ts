// Turns a Project and its signing Secret into the ring that signs its tokens, and the secret key of its password revisions.
// A lost ring comes back from what is published, else a new one is made and all sessions end. Refuses a Secret that nothing proves
// to be this Project's.

import { durationSeconds } from "../../core/config/duration.ts";
import type { SigningKey, SigningRing } from "../../core/config/types.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { entryText } from "../../core/manifests/secret.ts";
import type { Project } from "../model/objects.ts";
import { signingSecretName } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import { type CredentialEvent, type CredentialEventReason, credentialEvent } from "./credential-event.ts";
import { mintSigningKey, type Random, signingKeyOf } from "./mint.ts";
import { earliest, type ResolveTools } from "./resolution.ts";
import {
  advanceRing,
  maxKeys,
  type RingState,
  type RingStep,
  type RotatingRing,
  readRingState,
  retiresAt,
} from "./ring-rotation.ts";
import { type SecretWrite, writeOf } from "./secret-write.ts";
import { rewritten, sealingOf, type UsableSecret, usableSecret } from "./usable-secret.ts";

/** A new value of this annotation of a Project makes a new signing key. */
export const rotateSigningKeyAnnotation = "jsonplane.io/rotate-signing-key";
/** Characters of that value that count. The Secret stores them beside the ring. */
const maxRotationLength = 253;

export interface ProjectKeys {
  readonly signingRing: SigningRing;
  /** 32 bytes. */
  readonly projectKey: Uint8Array;
}

export interface SigningResolution {
  readonly keys: Result<ProjectKeys>;
  readonly writes: readonly SecretWrite[];
  readonly events: readonly CredentialEvent[];
  /** True when a ring had to be made although there was one once: sessions end. */
  readonly replaced: boolean;
  /** A new key waits for `ringAcknowledged`. */
  readonly waits: boolean;
  /** Unix milliseconds: when a key leaves the ring. */
  readonly nextAt?: number;
}

export interface SigningTools extends Pick<ResolveTools, "findSecret" | "random" | "now" | "sealKey" | "restore"> {
  /** Every live replica has acknowledged the revision that published `published`, or a newer one. */
  readonly ringAcknowledged: boolean;
}

/** `live` = the ring that is published now. */
export function resolveSigning(
  project: Project,
  live: SigningRing | undefined,
  tools: SigningTools,
): SigningResolution {
  const published = ringOrUndefined(live);
  const name = signingSecretName(project);
  const sealing = sealingOf(project, tools);
  const usable = usableSecret(name, { sealing, tools, isPublished: published !== undefined });
  if (!usable.ok) return { ...unresolvedSigning, keys: usable };
  const secret = usable.value;
  const found = findKeys(contentOf(secret, published), published);
  const tokenSeconds = durationSeconds(project.spec.sessions.refreshTokenTTL) ?? 0;
  const wanted = project.metadata.annotations?.[rotateSigningKeyAnnotation]?.slice(0, maxRotationLength);
  const before = found.rotating ?? newRing(tools.random, { wanted, tokenSeconds });
  const { ringAcknowledged: acknowledged, now, random } = tools;
  const after = advanceRing(before, { wanted, acknowledged, published, tokenSeconds, now, random });
  const keys: ProjectKeys = { signingRing: after.signingRing, projectKey: found.projectKey ?? random(32) };
  const change = changeOf(found, before, after);
  const isImmutable = secret.found?.immutable === true;
  if (change === "keys" && isImmutable) {
    return refused(`Secret "${name}" is immutable and has to change; delete it: the keys come from what is published`);
  }
  const isUnwritten = (change === "nothing" && secret.isMarked) || isImmutable;
  const replaced = isReplaced(project, found, secret);
  const content = { name, entries: entriesOf(keys, after.state), ...lossOf(found) };
  const writes = isUnwritten ? [] : [writeOf(sealing, secret.found, content)];
  const isKnown = hasKnownKeys(found, secret);
  const leaving = after.state.retiring.map((key) => retiresAt(key, tokenSeconds));
  const nextAt = earliest(leaving, now);
  return {
    keys: { ok: true, value: keys },
    writes,
    events: [
      ...(isKnown ? rewritten(project, writes, [secret.origin]) : []),
      ...eventsOf(project, { steps: isUnwritten ? [] : after.steps, replaced }),
    ],
    replaced,
    waits: after.state.pending !== undefined,
    ...(nextAt !== undefined && { nextAt }),
  };
}

/** What nothing proves counts for nothing unless its ring is the one that is published. */
function contentOf({ content, origin }: UsableSecret, published: SigningRing | undefined): Secret | undefined {
  const isPublished = keyTextsOf(readRing(entryText(content, "ring"))) === keyTextsOf(published);
  return origin === "unproved" && !isPublished ? undefined : content;
}

function keyTextsOf(ring: SigningRing | undefined): string {
  return JSON.stringify(ring?.keys.map(({ kid, x, d }) => [kid, x, d]));
}

/** There was a ring once, and nothing is left of it. */
function isReplaced(project: Project, { source }: FoundKeys, { content }: UsableSecret): boolean {
  return source === "nowhere" && (content !== undefined || project.status?.liveGeneration !== undefined);
}

/** What is made then is another key each time. */
function lossOf({ rotating, projectKey }: FoundKeys): { readonly causeId?: string } {
  return rotating === undefined || projectKey === undefined ? { causeId: "keys were lost" } : {};
}

function hasKnownKeys({ source, projectKey }: FoundKeys, { origin }: UsableSecret): boolean {
  return origin === "restored" || source === "published" || (source === "secret" && projectKey === undefined);
}

/** The keys as they are stored; undefined unless both can be read. */
export function readProjectKeys(secret: Secret | undefined): ProjectKeys | undefined {
  const signingRing = readRing(entryText(secret, "ring"));
  const projectKey = readKey(entryText(secret, "projectKey"));
  return signingRing === undefined || projectKey === undefined ? undefined : { signingRing, projectKey };
}

interface FoundKeys {
  readonly rotating: RotatingRing | undefined;
  readonly projectKey: Uint8Array | undefined;
  readonly source: "secret" | "published" | "nowhere";
}

function findKeys(secret: Secret | undefined, published: SigningRing | undefined): FoundKeys {
  const signingRing = readRing(entryText(secret, "ring"));
  const state = readRingState(entryText(secret, "rotation")) ?? { retiring: [] };
  const projectKey = readKey(entryText(secret, "projectKey"));
  if (signingRing !== undefined) return { rotating: { signingRing, state }, projectKey, source: "secret" };
  if (published !== undefined) return { rotating: { signingRing: published, state }, projectKey, source: "published" };
  return { rotating: undefined, projectKey, source: "nowhere" };
}

/** A new key counts as made for the rotation that is wanted now. */
function newRing(
  random: Random,
  { wanted, tokenSeconds }: { readonly wanted: string | undefined; readonly tokenSeconds: number },
): RotatingRing {
  const state: RingState = { ...(wanted !== undefined && { handled: wanted }), retiring: [], tokenSeconds };
  return { signingRing: { keys: [mintSigningKey(random)] }, state };
}

/** Notes about keys can wait where the Secret is immutable; keys can't. */
function changeOf(found: FoundKeys, before: RotatingRing, after: RotatingRing): "keys" | "state" | "nothing" {
  if (found.source !== "secret" || found.projectKey === undefined || after.signingRing !== before.signingRing)
    return "keys";
  return after.state === before.state ? "nothing" : "state";
}

function entriesOf({ signingRing, projectKey }: ProjectKeys, state: RingState): Readonly<Record<string, string>> {
  return {
    ring: JSON.stringify(signingRing),
    projectKey: Buffer.from(projectKey).toString("base64url"),
    rotation: JSON.stringify(state),
  };
}

interface RingChange {
  readonly steps: readonly RingStep[];
  readonly replaced: boolean;
}

const stepEvents: Readonly<Record<RingStep, readonly [CredentialEventReason, string]>> = {
  added: ["SigningKeyAdded", "Created a signing key; it signs as soon as every replica knows it"],
  rotated: ["SigningKeyRotated", "The new signing key signs; the former one verifies until its last token has expired"],
  retired: ["SigningKeyRetired", "A former signing key was removed: no token of it is left"],
};

function eventsOf(project: Project, { steps, replaced }: RingChange): readonly CredentialEvent[] {
  const name = signingSecretName(project);
  const lost = `The signing keys in Secret "${name}" were lost and recreated: all sessions have ended`;
  return [
    ...(replaced ? [credentialEvent(project, "SigningRingReplaced", lost)] : []),
    ...steps.map((step) => credentialEvent(project, ...stepEvents[step])),
  ];
}

const unresolvedSigning = { writes: [], events: [], replaced: false, waits: false };

function refused(message: string): SigningResolution {
  return { ...unresolvedSigning, keys: refuse("SecretConflict", message) };
}

function readKey(text: string | undefined): Uint8Array | undefined {
  const bytes = text === undefined ? undefined : Buffer.from(text, "base64url");
  return bytes?.length === 32 ? bytes : undefined;
}

function readRing(text: string | undefined): SigningRing | undefined {
  // After an edit of the Secret that leaves no ring, the ring counts as lost.
  return ringOrUndefined(parseOrUndefined(text ?? ""));
}

function ringOrUndefined(value: unknown): SigningRing | undefined {
  return isRing(value) ? { keys: value.keys.map(({ kid, signs, x, d }) => ({ kid, signs, x, d })) } : undefined;
}

/** Whether it is a ring that `advanceRing` makes: that of a restored Secret may be anybody's, and is published. */
function isRing(value: unknown): value is SigningRing {
  const keys = (value as { readonly keys?: unknown } | null | undefined)?.keys;
  if (!Array.isArray(keys) || keys.length > maxKeys || !keys.every(isSigningKey)) return false;
  return keys.filter(({ signs }) => signs).length === 1 && new Set(keys.map(({ kid }) => kid)).size === keys.length;
}

function isSigningKey(value: unknown): value is SigningKey {
  const { kid, x, d, signs } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const secret = typeof d === "string" ? readKey(d) : undefined;
  if (secret === undefined || typeof signs !== "boolean") return false;
  const made = signingKeyOf(secret);
  return kid === made.kid && x === made.x && d === made.d;
}
