// Foreign Secrets that were read, each in one version, by `<namespace>/<name>`. Drops the least recently used ones once they take too much
// memory.

import type { Secret } from "../../core/manifests/object.ts";
import { weightOf } from "./secret-object.ts";

export interface SecretCache {
  /** Undefined unless this very version is cached. */
  get(name: string, resourceVersion: string): Secret | undefined;
  put(name: string, secret: Secret): void;
  drop(name: string): void;
}

export function createSecretCache(maxBytes: number): SecretCache {
  /** The most recently used one comes last. */
  const secrets = new Map<string, Secret>();
  let bytes = 0;
  const drop = (name: string): void => {
    const secret = secrets.get(name);
    if (secret === undefined) return;
    secrets.delete(name);
    bytes -= weightOf(secret);
  };
  return {
    get(name, resourceVersion) {
      const secret = secrets.get(name);
      if (secret?.metadata.resourceVersion !== resourceVersion) return undefined;
      secrets.delete(name);
      secrets.set(name, secret);
      return secret;
    },
    put(name, secret) {
      drop(name);
      secrets.set(name, secret);
      bytes += weightOf(secret);
      for (const oldest of secrets.keys()) {
        if (bytes <= maxBytes) break;
        drop(oldest);
      }
    },
    drop,
  };
}
