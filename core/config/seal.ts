// Seals one field of a project's configuration for Redis and opens it again: a compact JWE (RFC 7516, dir + A256GCM) whose
// protected header binds project, field and revision, so that a sealed value can't be moved or altered. Refuses to open
// anything that was not sealed for exactly this project, field and revision.

import { CompactEncrypt, type CompactJWEHeaderParameters, compactDecrypt } from "jose";
import type { Keyring } from "./keyring.ts";
import type { ProjectRef } from "./types.ts";

/** What a sealed value belongs to: it opens nowhere else. */
export interface SealBinding extends ProjectRef {
  /** UID of the Project. */
  readonly uid: string;
  readonly field: string;
  readonly revision: number;
}

/** The value is not one that this ring sealed for this field and revision. */
export class SealBroken extends Error {
  override readonly name: string = "SealBroken";
}

/** The value was sealed with a key that this ring does not have, or has no longer: another ring may open it. */
export class KeyNotInRing extends SealBroken {
  override readonly name = "KeyNotInRing";
}

export async function seal(keyring: Keyring, binding: SealBinding, text: string): Promise<string> {
  const [key] = keyring.keys;
  const header: CompactJWEHeaderParameters = { alg: "dir", enc: "A256GCM", kid: key.kid, ...bound(binding) };
  return new CompactEncrypt(new TextEncoder().encode(text)).setProtectedHeader(header).encrypt(key.secret);
}

/** `uid` is returned, not demanded: the project's own field is where a reader learns it. */
export async function open(
  keyring: Keyring,
  binding: Omit<SealBinding, "uid">,
  sealed: string,
): Promise<{ readonly text: string; readonly uid: string }> {
  const { plaintext, protectedHeader } = await decrypt(keyring, sealed);
  const { uid } = protectedHeader;
  if (typeof uid !== "string") throw new SealBroken("A sealed value names no project UID");
  const expected = bound({ ...binding, uid });
  for (const [name, value] of Object.entries(expected)) {
    if (protectedHeader[name] !== value) throw new SealBroken(`A sealed value was made for another ${name}`);
  }
  return { text: new TextDecoder().decode(plaintext), uid };
}

async function decrypt(keyring: Keyring, sealed: string) {
  try {
    return await compactDecrypt(sealed, (header) => secretOf(keyring, header.kid), {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    });
  } catch (cause) {
    if (cause instanceof KeyNotInRing) throw cause;
    throw new SealBroken("A sealed value can't be opened with this key ring", { cause });
  }
}

function secretOf(keyring: Keyring, kid: string | undefined): Uint8Array {
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
