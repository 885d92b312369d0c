// Carries a rotation of the fleet's ring one step further: the leader calls it every few seconds
// and when the Secret changes. Refuses a damaged Secret with FleetRingUnusable, and continues with
// the ring in use.

import type { Clock } from "../../core/clock.ts";
import { type Keyring, keyringText, newRingKey, type RingKey } from "../../core/config/keyring.ts";
import type { JsonObject } from "../../core/config/types.ts";
import { isConflict, type KubeApi, type KubeObject } from "../kube/api.ts";
import { annotationsOf, secretType, withAnnotations } from "../kube/objects.ts";
import type { Random } from "../resolve/mint.ts";
import { ensureSecret } from "../secrets/installation-secret.ts";
import { needsSealedWith, nextRingStep, type RingFacts, type RingStep } from "./next-ring-step.ts";
import {
  newRingSecret,
  type RingState,
  readHmacKey,
  readRingSecret,
  ringSecretName,
  unusableRing,
  withHmacKey,
  withRingState,
} from "./ring-secret.ts";

/** The ring that the publisher seals and opens with. */
export interface CurrentKeyring {
  current(): Keyring;
  /** From now on this one. */
  adopt(ring: Keyring): void;
}

/** What is published, as a rotation needs to know it. */
export interface SealedConfig {
  /** Key ids that something in Redis is sealed with. */
  sealedWith(): Promise<ReadonlySet<string>>;
  /**
   * Seals again what another key than the ring's first has sealed. Much at once: it may take
   * several calls.
   */
  reseal(): Promise<unknown>;
  /** A revision by which nothing was left to be sealed again. */
  resealedAtRevision(): number;
}

/** A live replica, as it acknowledged. */
export interface RingReplica {
  /** It can no longer serve anything older. */
  readonly revision: number;
  /** Key ids of its ring. */
  readonly kids: readonly string[];
}

export interface RotationDeps {
  /** Bound to leadership. */
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  /** The operator's own. */
  readonly namespace: string;
  readonly random: Random;
  readonly clock: Clock;
  readonly keyRing: CurrentKeyring;
  /** In the Secret beside the ring. */
  readonly hmacKey: Uint8Array;
  /**
   * Other annotations that the Secret must have: written again where it was recreated, or
   * overwritten by a tool that keeps it elsewhere.
   */
  readonly annotations?: () => Readonly<Record<string, string>>;
  readonly config: SealedConfig;
  /**
   * The live ones as of now. Rejects while they can't be asked: not to know of any is not the same
   * as that there is none.
   */
  readonly replicas: () => Promise<readonly RingReplica[]>;
  /** Called with every step that was done. */
  readonly onStep?: (step: RingStep["step"]) => void;
  /**
   * Called with the key ids of a ring that was put into the Secret by others, and is used from now
   * on.
   */
  readonly onAdopted?: (kids: readonly string[]) => void;
  /** Called where the Secret had another HMAC key, or none, and has the one in use again. */
  readonly onHmacKeyRestored?: () => void;
  /** Called each time with the Secret as it was found. */
  readonly onSecret?: (secret: KubeObject) => void;
  /** Called on every call that has to wait; no secret in it. */
  readonly onWaiting?: (why: string) => void;
}

/** `advanced`: call it again soon. `waiting`: something else has to happen first. */
export type Rotation = "idle" | "waiting" | "advanced";

export async function rotateFleetRing(deps: RotationDeps): Promise<Rotation> {
  // A deleted Secret is recreated with the ring in use, not with a new one.
  const found = await ensureSecret(deps.api, { namespace: deps.namespace, name: ringSecretName }, () =>
    newRingSecret(deps.keyRing.current(), deps.hmacKey, deps.annotations?.()),
  );
  const secret = await completed(deps, found);
  if (secret === undefined) return waiting(deps, secretChanged);
  deps.onSecret?.(secret);
  const state = readRingSecret(secret);
  await takeOver(deps, secret, state.keyring);
  const step = nextRingStep(state, await factsOf(deps, state));
  if (step.step === "none") return "idle";
  if (step.step === "wait") return waiting(deps, step.why);
  if (step.step === "reseal") await deps.config.reseal();
  else if (!(await write(deps, secret, changed(state, step, deps)))) return waiting(deps, secretChanged);
  deps.onStep?.(step.step);
  return "advanced";
}

const secretChanged = "The Secret has changed since it was read";

function waiting({ onWaiting }: RotationDeps, why: string): Rotation {
  onWaiting?.(why);
  return "waiting";
}

/**
 * Adds what is missing beside the ring; what is there stays, whatever its value, but for the HMAC
 * key: Secrets are being written with the one in use. Undefined when the Secret has changed since
 * it was read.
 */
async function completed(
  { api, hmacKey, annotations, onHmacKeyRestored }: RotationDeps,
  secret: KubeObject,
): Promise<KubeObject | undefined> {
  const wanted = Object.entries(annotations?.() ?? {});
  const missing = wanted.filter(([name]) => annotationsOf(secret)[name] === undefined);
  const hasHmacKey = Buffer.from(hmacKey).equals(readHmacKey(secret) ?? Buffer.alloc(0));
  if (missing.length === 0 && hasHmacKey) return secret;
  const complete = hasHmacKey ? secret : { ...secret, ...withHmacKey(secret, hmacKey) };
  const written = await replaced(api, withAnnotations(complete as KubeObject, Object.fromEntries(missing)));
  if (written !== undefined && !hasHmacKey) onHmacKeyRestored?.();
  return written;
}

/** Adopts what the Secret holds, unless something is sealed that it would not open. */
async function takeOver(
  { keyRing, config, onAdopted }: RotationDeps,
  { metadata }: KubeObject,
  found: Keyring,
): Promise<void> {
  const held = keyRing.current();
  if (keyringText(held) === keyringText(found)) return;
  const kept = new Set(found.keys.map(({ kid }) => kid));
  const gone = held.keys.filter(({ kid }) => !kept.has(kid));
  const missed = gone.length === 0 ? new Set<string>() : await config.sealedWith();
  const needed = gone.filter(({ kid }) => missed.has(kid)).map(({ kid }) => kid);
  const secret = `${metadata.namespace}/${metadata.name}`;
  if (needed.length > 0)
    throw unusableRing(secret, `lacks keys that configuration is sealed with (${needed.join(", ")})`);
  if (!Buffer.from(held.names).equals(found.names)) throw unusableRing(secret, `has another "names" than is in use`);
  keyRing.adopt(found);
  onAdopted?.(found.keys.map(({ kid }) => kid));
}

async function factsOf({ clock, config, replicas }: RotationDeps, state: RingState): Promise<RingFacts> {
  const sealedWith = needsSealedWith(state) ? await config.sealedWith() : new Set<string>();
  const live = state.rotating === undefined ? [] : await replicas();
  const [first, ...others] = live.map(({ kids }) => new Set(kids));
  return {
    commonKids: first && others.reduce((common, kids) => common.intersection(kids), first),
    sealedWith,
    programmed: live.every(({ revision }) => revision >= config.resealedAtRevision()),
    now: clock.now(),
  };
}

type WrittenStep = Extract<RingStep, { readonly step: "append" | "promote" | "drop" }>;

function changed(state: RingState, step: WrittenStep, { random, clock }: RotationDeps): RingState {
  const { keyring } = state;
  if (step.step === "append") {
    const key = newRingKey(random);
    const keys: Keyring["keys"] = [...keyring.keys, key];
    return { ...state, keyring: { ...keyring, keys }, rotated: state.rotate, rotating: key.kid, since: clock.now() };
  }
  if (step.step === "promote") return { ...state, keyring: { ...keyring, keys: withFirst(keyring.keys, step.kid) } };
  const [first, ...others] = keyring.keys;
  const keys: Keyring["keys"] = [first, ...others.filter(({ kid }) => step.keep.has(kid))];
  const done = state.rotating === first.kid;
  return { ...state, keyring: { ...keyring, keys }, rotating: done ? undefined : state.rotating };
}

function withFirst(keys: Keyring["keys"], kid: string): Keyring["keys"] {
  const first = keys.find((key) => key.kid === kid);
  const others: readonly RingKey[] = keys.filter((key) => key !== first);
  if (first === undefined) throw new Error("A key that is not in the ring can't become its first");
  return [first, ...others];
}

/**
 * False when the Secret has changed since it was read. The ring is adopted once it stands in the
 * Secret.
 */
async function write({ api, keyRing }: RotationDeps, secret: KubeObject, state: RingState): Promise<boolean> {
  if ((await replaced(api, withRingState(secret, state))) === undefined) return false;
  keyRing.adopt(state.keyring);
  return true;
}

/** Undefined when the Secret has changed since it was read. */
async function replaced(api: RotationDeps["api"], secret: JsonObject): Promise<KubeObject | undefined> {
  try {
    return await api.replace(secretType, secret);
  } catch (error) {
    if (isConflict(error)) return undefined;
    throw error;
  }
}
