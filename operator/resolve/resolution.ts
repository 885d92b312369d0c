// What resolving the credential of one object needs, and what it answers.

import type { KeyObject } from "node:crypto";
import type { Secret } from "../../core/manifests/object.ts";
import type { PasswordCost } from "../../core/password/hash-password.ts";
import type { Resolved } from "../model/credentials.ts";
import { refuse } from "../model/verdict.ts";
import type { CredentialEvent } from "./credential-event.ts";
import type { Random } from "./mint.ts";

/** The Secret of this name in the namespace of the Project, as it is now. */
export type FindSecret = (name: string) => Secret | undefined;

export interface ResolveTools {
  readonly findSecret: FindSecret;
  readonly random: Random;
  /** Unix milliseconds. */
  readonly now: number;
  /**
   * The argon2id string of a password, by default at the cost of passwords that people choose.
   * Undefined: it comes later. Throws PasswordRefused.
   */
  readonly hashPassword: (password: string, cost?: PasswordCost) => Promise<string | undefined>;
  /** The URL of the Project. The Secret of an API key contains it. */
  readonly baseUrl: string;
  /** Secret key of the installation. It makes the HMACs of Secrets and of passwords. */
  readonly hmacKey: KeyObject;
  /**
   * Which Secrets without a valid HMAC are used. `all`: by --adopt-data. `asked`: by the Project's
   * annotation adopt-data, for objects of which nothing is published.
   */
  readonly restore: "all" | "asked" | "none";
  /** This pass writes no more Secrets: what needs one is left to a later pass. */
  readonly writesUsedUp?: boolean;
}

/** The credential of one object, and what follows from it. */
export interface Resolution<T, S> {
  readonly credential: Resolved<T>;
  /** To be written before the credential is published. */
  readonly writes: readonly SecretWrite[];
  /** To be recorded once the writes are done. */
  readonly events: readonly CredentialEvent[];
  /** For the object's status; absent: the status stays. */
  readonly status?: S;
  /** Unix milliseconds: when resolving gives another result although nothing was edited. */
  readonly nextAt?: number;
  /** A later pass resolves it, and writes its Secrets. */
  readonly deferred?: true;
}

export interface SecretWrite {
  /** `create` fails if the Secret exists, `replace` if it has changed since it was read. */
  readonly mode: "create" | "replace";
  /** The version that is replaced, where Secrets have versions. */
  readonly resourceVersion?: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: "Opaque" | "kubernetes.io/basic-auth";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly entries: Readonly<Record<string, string>>;
  /**
   * Writes with the same cause are repetitions for the limit of repairs, even if the value is new.
   * Absent: entries are compared.
   */
  readonly causeId?: string;
}

export function unresolved(credential: ReturnType<typeof refuse>): Resolution<never, never> {
  return { credential, writes: [], events: [] };
}

export const deferred: Resolution<never, never> = {
  ...unresolved(
    refuse("CredentialPending", "Its Secrets come after others of the Project; a former one works until then"),
  ),
  deferred: true,
};

/** The earliest of `moments` that is still to come. */
export function earliest(moments: readonly (number | undefined)[], now: number): number | undefined {
  const ahead = moments.filter((moment) => moment !== undefined).filter((moment) => moment > now);
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}
