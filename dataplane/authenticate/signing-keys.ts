// Turns a project's signing ring into keys that sign and verify, once per ring object. A ring that a publisher got wrong
// throws what node:crypto says, as the defect that it is.

import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { SigningRing } from "../../core/config/types.ts";

export interface Signer {
  readonly kid: string;
  readonly key: KeyObject;
}

interface ImportedRing {
  readonly signer: Signer | undefined;
  readonly verifying: ReadonlyMap<string, KeyObject>;
}

export interface SigningKeys {
  /** The first key that signs; undefined while a new ring waits for the replicas to know it. */
  signer(ring: SigningRing): Signer | undefined;
  verifyingKey(ring: SigningRing, kid: string): KeyObject | undefined;
}

export function createSigningKeys(): SigningKeys {
  // Held by the ring's own life: a project that is replaced takes its keys with it.
  const imported = new WeakMap<SigningRing, ImportedRing>();
  const importOnce = (ring: SigningRing): ImportedRing => {
    const known = imported.get(ring);
    if (known !== undefined) return known;
    const made = importRing(ring);
    imported.set(ring, made);
    return made;
  };
  return {
    signer: (ring) => importOnce(ring).signer,
    verifyingKey: (ring, kid) => importOnce(ring).verifying.get(kid),
  };
}

function importRing(ring: SigningRing): ImportedRing {
  const signing = ring.keys.find((key) => key.signs);
  return {
    signer: signing && {
      kid: signing.kid,
      key: createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", x: signing.x, d: signing.d }, format: "jwk" }),
    },
    verifying: new Map(
      ring.keys.map(({ kid, x }) => [kid, createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" })]),
    ),
  };
}

/** RFC 7517 key set of the public halves (RFC 8037); `d` never leaves. */
export function publicKeySet(ring: SigningRing): { readonly keys: readonly Readonly<Record<string, string>>[] } {
  return { keys: ring.keys.map(({ kid, x }) => ({ kty: "OKP", crv: "Ed25519", kid, alg: "EdDSA", use: "sig", x })) };
}
