// A fleet's key ring that stays as it is, for parts of a replica that follow one.

import type { Keyring } from "../../../core/config/keyring.ts";
import type { FollowedKeyring } from "../../../dataplane/config/follow-keyring.ts";

export function unchangingKeyring(ring: Keyring): FollowedKeyring {
  return { current: () => ring, reread: () => Promise.resolve(), onChange: () => undefined, stop: () => undefined };
}
