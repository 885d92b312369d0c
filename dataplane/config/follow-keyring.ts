// The fleet's current key ring: read again when its file has changed, and immediately when a value
// was encrypted with a key that it does not have. A file that can't be used is reported, without
// its content, and the last ring stays.

import { type Keyring, parseKeyring } from "../../core/config/keyring.ts";
import { KeyNotInRing, open, type SealBinding } from "../../core/config/seal.ts";
import { type Followed, type FollowedFileDeps, followFile } from "../../core/followed-file.ts";

export type FollowedKeyring = Followed<Keyring>;

/** Rejects when the first read gives no ring: InvalidKeyring, or as `read` does. */
export function followKeyring(deps: Omit<FollowedFileDeps<Keyring>, "parse">): Promise<FollowedKeyring> {
  return followFile({ ...deps, parse: parseKeyring });
}

/** Opens a value as `open` does; when its key is missing, with the ring that the file has now. */
export async function openWithNewest(
  keyring: FollowedKeyring,
  binding: Omit<SealBinding, "uid">,
  sealed: string,
): Promise<{ readonly text: string; readonly uid: string }> {
  const tried = keyring.current();
  try {
    return open(tried, binding, sealed);
  } catch (error) {
    if (!(error instanceof KeyNotInRing)) throw error;
    await keyring.reread();
    if (keyring.current() === tried) throw error;
    return open(keyring.current(), binding, sealed);
  }
}
