// Tells by what Redis says whether a key ring is the one that its configuration is sealed with. The mark goes by the ring's names, which
// outlive every rotation of its sealing keys, and tells nothing of them.

import { type Keyring, keyedHash } from "./keyring.ts";

/** Written into `configKeys.meta` by whoever begins to write configuration. */
export const ringMarkField = "ring";

export function ringMarkOf(keyring: Keyring): string {
  return keyedHash(keyring, "content", "ring").slice(0, 32);
}
