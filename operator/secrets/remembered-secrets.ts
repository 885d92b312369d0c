// Remembers foreign Secrets that were read, each in one version, and forgets the ones that nobody asked for longest once
// they take too much room.

import type { Secret } from "../../core/manifests/object.ts";
import { weightOf } from "./secret-object.ts";

export interface RememberedSecrets {
  /** Undefined unless it was remembered in this very version. */
  get(place: string, resourceVersion: string): Secret | undefined;
  put(place: string, secret: Secret): void;
  forget(place: string): void;
}

export function createRememberedSecrets(maxBytes: number): RememberedSecrets {
  /** The one that was asked for last comes last. */
  const secrets = new Map<string, Secret>();
  let bytes = 0;
  const forget = (place: string): void => {
    const secret = secrets.get(place);
    if (secret === undefined) return;
    secrets.delete(place);
    bytes -= weightOf(secret);
  };
  return {
    get(place, resourceVersion) {
      const secret = secrets.get(place);
      if (secret?.metadata.resourceVersion !== resourceVersion) return undefined;
      secrets.delete(place);
      secrets.set(place, secret);
      return secret;
    },
    put(place, secret) {
      forget(place);
      secrets.set(place, secret);
      bytes += weightOf(secret);
      for (const oldest of secrets.keys()) {
        if (bytes <= maxBytes) break;
        forget(oldest);
      }
    },
    forget,
  };
}
