// Turns an API key into its caller: SHA-256, then the live config of that hash, so that a key that is removed, expired or
// given another role is so at once. Refuses with `invalid_credentials` or, past its `expiresAt`, `token_expired`.

import { createHash } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { KeyConfig } from "../../core/config/types.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { Caller, KeyCaller } from "./caller.ts";
import { withLive } from "./live-lookup.ts";
import { invalidCredentials, keyExpired } from "./refusals.ts";

export interface KeyVerifier {
  /** The caller, when exactly this header proved a key before; undefined = parse it. */
  cached(project: LiveProject, header: string): Caller | Promise<Caller> | undefined;
  verify(project: LiveProject, header: string, key: string): Caller | Promise<Caller>;
}

interface KnownHeader {
  readonly sha256: string;
  /** What the caller was made from; another object means that the live config changed. */
  readonly config: KeyConfig;
  readonly caller: KeyCaller;
}

/** Headers remembered; only those that proved a key, so that a flood of wrong ones pushes nothing out. */
const maxKnownHeaders = 10_000;

export function createKeyVerifier(directory: Directory, clock: Clock): KeyVerifier {
  const known = recentlyUsed<KnownHeader>(maxKnownHeaders);

  const evaluate = (project: LiveProject, config: KeyConfig | undefined, header: string): KeyConfig => {
    if (config === undefined) {
      known.delete(header);
      throw invalidCredentials(project.config);
    }
    if (config.expiresAt !== undefined && clock.now() >= config.expiresAt * 1000) throw keyExpired(project.config);
    return config;
  };

  const remember = (header: string, config: KeyConfig): Caller => {
    const caller = callerOf(config);
    known.set(header, { sha256: config.sha256, config, caller });
    return caller;
  };

  return {
    cached(project, header) {
      const entry = known.get(header);
      if (entry === undefined) return undefined;
      return withLive(directory.key(project, entry.sha256), (config) => {
        const live = evaluate(project, config, header);
        return live === entry.config ? entry.caller : remember(header, live);
      });
    },
    verify(project, header, key) {
      // Found by hash and not by comparing texts: what a look-up's time could tell is about SHA-256 values, from which
      // nobody gets to a 256-bit key.
      const sha256 = createHash("sha256").update(key).digest("hex");
      return withLive(directory.key(project, sha256), (config) => remember(header, evaluate(project, config, header)));
    },
  };
}

function callerOf(config: KeyConfig): KeyCaller {
  const { name, description, role, access } = config;
  return Object.freeze({ kind: "apikey", name, description, role, access });
}
