// The Secret that holds the fleet's key ring: in the operator's own namespace, mounted by the data
// plane. Carries the ring and, in its annotations, how far a rotation has come. Refuses with
// FleetRingUnusable what is no ring, and never writes over it.

import { InvalidKeyring, type Keyring, keyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { JsonObject } from "../../core/config/types.ts";
import type { KubeObject } from "../kube/api.ts";
import { annotationsOf, withAnnotations } from "../kube/objects.ts";
import type { InstallationSecret } from "../secrets/installation-secret.ts";
import { dataOf, encodedEntries } from "../secrets/secret-object.ts";

/** Its name, in the operator's namespace. */
export const ringSecretName = "jsonplane-keyring";
const ringEntry = "keyring.json";
/**
 * 32 bytes that prove which Secrets of credentials this installation made. Replicas don't have it:
 * they mount the ring's entry alone.
 */
export const hmacKeyEntry = "seal.key";

export const ringAnnotations = {
  /** Any new value asks for a rotation. */
  rotate: "jsonplane.io/rotate",
  /** The value that was taken up last. */
  rotated: "jsonplane.io/rotated",
  /** Key id of the key that a rotation is bringing in; absent when none is under way. */
  rotating: "jsonplane.io/rotating",
  /** When that key came into the ring, RFC 3339. */
  since: "jsonplane.io/rotating-since",
} as const;

export const hmacKeyBytes = 32;

/** The Secret is there and can't be used; `message` says what to do and holds nothing of it. */
export class FleetRingUnusable extends Error {
  override readonly name = "FleetRingUnusable";
}

export interface RingState {
  readonly keyring: Keyring;
  readonly rotate: string | undefined;
  readonly rotated: string | undefined;
  readonly rotating: string | undefined;
  /** Unix milliseconds; 0 when it is not known. */
  readonly since: number;
}

/** What the Secret says. */
export function readRingSecret(secret: KubeObject): RingState {
  const { namespace, name } = secret.metadata;
  const annotations = annotationsOf(secret);
  const encoded = dataOf(secret)[ringEntry];
  if (encoded === undefined) throw unusable(namespace, `has no entry "${ringEntry}"`);
  return {
    keyring: parsed(Buffer.from(encoded, "base64").toString("utf8"), (why) =>
      unusable(namespace, `is not a key ring: ${why}`),
    ),
    rotate: annotations[ringAnnotations.rotate],
    rotated: annotations[ringAnnotations.rotated],
    rotating: annotations[ringAnnotations.rotating],
    since: Date.parse(annotations[ringAnnotations.since] ?? "") || 0,
  };

  function unusable(where: string, what: string): FleetRingUnusable {
    return unusableRing(`${where}/${name}`, what);
  }
}

export function unusableRing(secret: string, what: string): FleetRingUnusable {
  return new FleetRingUnusable(
    `Secret ${secret} ${what}. Restore its entry "${ringEntry}" from a backup. If it is lost for good, delete the ` +
      "Secret and start the operator once with --adopt-data: it makes a new ring and publishes everything again",
  );
}

/** There is none, and Redis says that there was one. */
export function missingRing(secret: string): FleetRingUnusable {
  return new FleetRingUnusable(
    `Secret ${secret} is missing, and Redis holds configuration that was sealed with the key ring in it, or that is another installation's. ` +
      "Restore the Secret from a backup, or name another Redis with --redis. If the ring is lost for good, start once with --adopt-data: " +
      "a new ring is made, and everything published again",
  );
}

/** Of a Secret that nobody would know as made here, the key or password would be replaced. */
export function missingHmacKey(secret: string): FleetRingUnusable {
  return new FleetRingUnusable(
    `Secret ${secret} has no entry "${hmacKeyEntry}" of ${hmacKeyBytes} bytes, which proves the Secrets of keys and passwords. ` +
      "Restore it from a backup. If it is lost for good, start the operator once with --adopt-data: " +
      "it makes a new one, and takes over every Secret that it finds",
  );
}

/** Undefined where somebody changed the entry, or restored the Secret without it. */
export function readHmacKey(secret: KubeObject): Uint8Array | undefined {
  const bytes = Buffer.from(dataOf(secret)[hmacKeyEntry] ?? "", "base64");
  return bytes.length === hmacKeyBytes ? bytes : undefined;
}

/** The same Secret for PUT. */
export function withHmacKey(secret: KubeObject, hmacKey: Uint8Array): JsonObject {
  const data = { ...dataOf(secret), ...encodedEntries({ [hmacKeyEntry]: hmacKey }) };
  return { ...secret, apiVersion: "v1", kind: "Secret", data } as unknown as JsonObject;
}

/** What the Secret is made with, where there is none. */
export function newRingSecret(
  keyring: Keyring,
  hmacKey: Uint8Array,
  annotations?: Readonly<Record<string, string>>,
): InstallationSecret {
  const entries = { [hmacKeyEntry]: hmacKey, [ringEntry]: keyringText(keyring) };
  return { type: "Opaque", ...(annotations && { annotations }), entries };
}

/** The same Secret for PUT, with this state; whatever else it carries stays. */
export function withRingState(secret: KubeObject, state: RingState): JsonObject {
  const annotations = {
    [ringAnnotations.rotate]: state.rotate,
    [ringAnnotations.rotated]: state.rotated,
    [ringAnnotations.rotating]: state.rotating,
    [ringAnnotations.since]: state.rotating === undefined ? undefined : new Date(state.since).toISOString(),
  };
  const data = { ...dataOf(secret), ...encodedEntries({ [ringEntry]: keyringText(state.keyring) }) };
  return { ...withAnnotations(secret, annotations), apiVersion: "v1", kind: "Secret", data };
}

function parsed(text: string, refused: (why: string) => FleetRingUnusable): Keyring {
  try {
    return parseKeyring(text);
  } catch (error) {
    // Its message names the member that is wrong, never a value.
    if (error instanceof InvalidKeyring) throw refused(error.message);
    throw error;
  }
}
