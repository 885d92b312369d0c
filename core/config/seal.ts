// Encrypts one field of a project's configuration for Redis and opens it again: a compact JWE (RFC
// 7516, dir + A256GCM) whose protected header binds project, field and revision, so that a value
// can't be moved or altered. Node's cipher is called directly: a field takes some 20 µs, and eight
// times as long by Web Crypto, which uses a thread. An operator that starts opens several fields
// for each Project.

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { isObject } from "../json/json-value.ts";
import { parseOrUndefined } from "../json/parse-or-undefined.ts";
import { type Keyring, keyObjectOf } from "./keyring.ts";
import type { ProjectRef } from "./types.ts";

/** What a sealed value belongs to: it opens nowhere else. */
export interface SealBinding extends ProjectRef {
  /** UID of the Project. */
  readonly uid: string;
  readonly field: string;
  readonly revision: number;
}

/** The value was not sealed by this ring for this field and revision. */
export class SealBroken extends Error {
  override readonly name: string = "SealBroken";
}

/** The value was sealed with a key that this ring does not have: another one may open it. */
export class KeyNotInRing extends SealBroken {
  override readonly name = "KeyNotInRing";
}

const algorithm = "aes-256-gcm";
/** Of A256GCM, RFC 7518 §5.3. */
const ivBytes = 12;
const tagBytes = 16;
const encoding = { alg: "dir", enc: "A256GCM" } as const;

export function seal(keyring: Keyring, binding: SealBinding, text: string): string {
  const [key] = keyring.keys;
  const header = Buffer.from(JSON.stringify({ ...encoding, kid: key.kid, ...bound(binding) })).toString("base64url");
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, keyObjectOf(key.secret), iv, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(header));
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  // The second of the five parts, the encrypted key, is empty with `dir`.
  return [header, "", ...[iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString("base64url"))].join(".");
}

/** `uid` is returned, not checked. Throws SealBroken or KeyNotInRing. */
export function open(
  keyring: Keyring,
  binding: Omit<SealBinding, "uid">,
  sealed: string,
): { readonly text: string; readonly uid: string } {
  const { text, header } = decrypt(keyring, sealed);
  const { uid } = header;
  if (typeof uid !== "string") throw new SealBroken("A sealed value names no project UID");
  const expected = bound({ ...binding, uid });
  for (const [name, value] of Object.entries(expected)) {
    if (header[name] !== value) throw new SealBroken(`A sealed value was made for another ${name}`);
  }
  return { text, uid };
}

interface Opened {
  readonly text: string;
  readonly header: Readonly<Record<string, unknown>>;
}

function decrypt(keyring: Keyring, sealed: string): Opened {
  const [encodedHeader = "", encryptedKey, ...others] = sealed.split(".");
  const [iv, ciphertext, tag, ...more] = others.map((part) => Buffer.from(part, "base64url"));
  const header = parseOrUndefined(Buffer.from(encodedHeader, "base64url").toString());
  const isSeal = isObject(header) && header["alg"] === encoding.alg && header["enc"] === encoding.enc;
  // Extensions that would have to be understood (RFC 7516 §4.1.13) are in none of ours.
  if (!isSeal || "crit" in header || encryptedKey !== "" || more.length > 0) throw unopened();
  if (iv?.length !== ivBytes || ciphertext === undefined || tag?.length !== tagBytes) throw unopened();
  const secret = secretOf(keyring, header["kid"]);
  try {
    const decipher = createDecipheriv(algorithm, keyObjectOf(secret), iv, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(encodedHeader)).setAuthTag(tag);
    const text = Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString();
    return { text, header };
  } catch (cause) {
    throw unopened(cause);
  }
}

function unopened(cause?: unknown): SealBroken {
  return new SealBroken("A sealed value can't be opened with this key ring", { cause });
}

function secretOf(keyring: Keyring, kid: unknown): Uint8Array {
  const key = keyring.keys.find((candidate) => candidate.kid === kid);
  if (!key) throw new KeyNotInRing("A sealed value names a key that is not in the ring");
  return key.secret;
}

function bound(binding: SealBinding): Record<string, string | number> {
  return {
    project: `${binding.namespace}/${binding.name}`,
    uid: binding.uid,
    field: binding.field,
    revision: binding.revision,
  };
}
