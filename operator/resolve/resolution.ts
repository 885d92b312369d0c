// What the resolve stage works with and what it answers: Secrets as they were read, and the credentials, the writes and the
// facts for the status that follow from them.

import type { KeyObject } from "node:crypto";
import type { Secret } from "../../core/manifests/object.ts";
import type { PasswordCost } from "../../core/password/hash-password.ts";
import type { Resolved } from "../model/credentials.ts";
import type { CredentialEvent } from "./credential-event.ts";
import type { Random } from "./mint.ts";
import type { SecretWrite } from "./secret-write.ts";

/** The Secret of this name in the namespace of the Project, as it is now. */
export type FindSecret = (name: string) => Secret | undefined;

/**
 * Which Secrets of others are used for objects whose credentials are not published yet: `all`, by --adopt-data, whatever is published;
 * `asked`, by the annotation adopt-data of the Project; none, which the platform lets the Project ask for (`allowed`) or not (`denied`).
 */
export type Restore = "all" | "asked" | "allowed" | "denied";

export interface ResolveTools {
  readonly findSecret: FindSecret;
  readonly random: Random;
  /** Unix milliseconds. */
  readonly now: number;
  /**
   * The argon2id string of a password, by default at the cost of one that people made; undefined = it comes later. Throws PasswordRefused.
   */
  readonly hashPassword: (password: string, cost?: PasswordCost) => Promise<string | undefined>;
  /**
   * Whether an argon2id string was made of a password; undefined = that is known later. `begins` false: only where an earlier pass has asked, and
   * false where none has.
   */
  readonly isPasswordOf: (hash: string, password: string, begins: boolean) => Promise<boolean | undefined>;
  /** What clients reach the Project by; written beside an API key. */
  readonly baseUrl: string;
  /** Secret key of the project: makes credential revisions. */
  readonly projectKey: Uint8Array | KeyObject;
  /** The Secret of that key is written in this pass: revisions may have been made with another one. */
  readonly isProjectKeyWritten?: boolean;
  /** Secret key of the installation: proves which Secrets it made. */
  readonly sealKey: KeyObject;
  readonly restore: Restore;
}

/** What became of one object's Secrets. */
export interface Resolution<T, S> {
  readonly credential: Resolved<T>;
  /** To be written before the credential is published. */
  readonly writes: readonly SecretWrite[];
  /** To be recorded once the writes are done. */
  readonly events: readonly CredentialEvent[];
  /** What to remember in the object's status; absent = nothing new. */
  readonly status?: S;
  /** Unix milliseconds: when resolving again gives something else although nothing was edited. */
  readonly nextAt?: number;
}

/** The earliest of `moments` that is still to come. */
export function earliest(moments: readonly (number | undefined)[], now: number): number | undefined {
  const ahead = moments.filter((moment) => moment !== undefined).filter((moment) => moment > now);
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}
