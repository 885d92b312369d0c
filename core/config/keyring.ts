// The fleet's key ring: it encrypts configuration in Redis, and hashes user names there. Operator
// and data plane read it from a file that a Secret mounts. Refuses a file that is not exactly such
// a ring, naming the member and never its value.

import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { parseOrUndefined } from "../json/parse-or-undefined.ts";

export interface RingKey {
  /** Names the key in a sealed value's header. */
  readonly kid: string;
  /** 32 bytes for A256GCM. */
  readonly secret: Uint8Array;
}

export interface Keyring {
  /** The first key seals, all of them open. */
  readonly keys: readonly [RingKey, ...RingKey[]];
  /** 32 bytes; they key the hashes of names and contents, and stay when sealing keys rotate. */
  readonly names: Uint8Array;
}

export class InvalidKeyring extends Error {
  override readonly name = "InvalidKeyring";
}

const secretBytes = 32;
/** Most keys of one ring. */
export const maxKeys = 16;

/** Reads `{"names": "<base64url>", "keys": [{"kid": "…", "k": "<base64url>"}]}`, 32 bytes each. */
export function parseKeyring(text: string): Keyring {
  const value = parsed(text);
  const list = member(value, "keys");
  if (!Array.isArray(list) || list.length < 1 || list.length > maxKeys) {
    throw new InvalidKeyring(`The key ring's "keys" must be a list of 1 to ${maxKeys} keys`);
  }
  const keys = list.map((each: unknown, index): RingKey => {
    const kid = member(each, "kid");
    if (typeof kid !== "string" || !/^[A-Za-z0-9._-]{1,64}$/.test(kid)) {
      throw new InvalidKeyring(`The key ring's "keys[${index}].kid" must be 1 to 64 of A-Z a-z 0-9 . _ -`);
    }
    return { kid, secret: secretOf(member(each, "k"), `keys[${index}].k`) };
  });
  const [first, ...others] = keys;
  if (!first || new Set(keys.map((key) => key.kid)).size !== keys.length) {
    throw new InvalidKeyring(`The key ring's "keys" must have different kids`);
  }
  return { keys: [first, ...others], names: secretOf(member(value, "names"), "names") };
}

/** The file text of a new ring with one key. */
export function newKeyringText(random: (size: number) => Uint8Array = randomBytes): string {
  return keyringText({ names: random(secretBytes), keys: [newRingKey(random)] });
}

export function newRingKey(random: (size: number) => Uint8Array): RingKey {
  return { kid: Buffer.from(random(8)).toString("hex"), secret: random(secretBytes) };
}

/** The file text that parseKeyring reads; equal rings give equal texts. */
export function keyringText({ names, keys }: Keyring): string {
  const list = keys.map(({ kid, secret }) => ({ kid, k: base64url(secret) }));
  return `${JSON.stringify({ names: base64url(names), keys: list }, undefined, 2)}\n`;
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

const keyObjects = new WeakMap<Uint8Array, KeyObject>();

/** As Node's ciphers and hashes take it fastest: from bytes, a hash takes five times as long. */
export function keyObjectOf(secret: Uint8Array): KeyObject {
  const known = keyObjects.get(secret);
  if (known !== undefined) return known;
  const made = createSecretKey(secret);
  keyObjects.set(secret, made);
  return made;
}

/** A keyed hash, in lower-case hex: it distinguishes texts, and means nothing without the ring. */
export function keyedHash(keyring: Keyring, purpose: "user" | "content", text: string): string {
  return createHmac("sha256", keyObjectOf(keyring.names)).update(`${purpose}\n${text}`).digest("hex");
}

function parsed(text: string): unknown {
  const value = parseOrUndefined(text);
  if (value === undefined) throw new InvalidKeyring("The key ring's file is not JSON");
  return value;
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? (value as Record<string, unknown>)[name] : undefined;
}

function secretOf(value: unknown, where: string): Uint8Array {
  const secret = typeof value === "string" ? Buffer.from(value, "base64url") : undefined;
  if (secret?.length !== secretBytes) {
    throw new InvalidKeyring(`The key ring's "${where}" must be ${secretBytes} bytes in base64url`);
  }
  return secret;
}

/** Written into `configKeys.meta` by whoever begins to write configuration. */
export const ringMarkField = "ring";

export function ringMarkOf(keyring: Keyring): string {
  return keyedHash(keyring, "content", "ring").slice(0, 32);
}
