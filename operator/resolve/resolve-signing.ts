// Turns a Project and its signing Secret into the ring that signs its tokens, and the secret key that seals its records.
// A lost ring comes back from what is published, else a new one is made and all sessions end. Refuses a foreign Secret.

import type { Json, SigningRing } from "../../core/config/types.ts";
import type { Project } from "../objects.ts";
import { isOwn, signingSecretName } from "../secret-names.ts";
import { type Judged, refuse } from "../verdict.ts";
import { mintSigningKey, type Random } from "./mint.ts";
import type { FindSecret } from "./resolution.ts";
import { entryText, type SecretWrite, writeOf } from "./secret-write.ts";

export interface ProjectKeys {
  readonly ring: SigningRing;
  /** 32 bytes. */
  readonly projectKey: Uint8Array;
}

export interface SigningResolution {
  readonly keys: Judged<ProjectKeys>;
  readonly writes: readonly SecretWrite[];
  /** True when a ring had to be made although there was one once: sessions end. */
  readonly replaced: boolean;
}

export interface SigningTools {
  readonly findSecret: FindSecret;
  readonly random: Random;
}

/** `published` = the ring that is live now. */
export function resolveSigning(
  project: Project,
  published: SigningRing | undefined,
  tools: SigningTools,
): SigningResolution {
  const name = signingSecretName(project);
  const secret = tools.findSecret(name);
  if (secret !== undefined && !isOwn(secret, project)) {
    const message = `Secret "${name}" was not made for this Project; delete it, or rename the Project`;
    return { keys: refuse("SecretConflict", message), writes: [], replaced: false };
  }
  const storedRing = readRing(entryText(secret, "ring"));
  const storedKey = readKey(entryText(secret, "projectKey"));
  const ring = storedRing ?? published ?? { keys: [mintSigningKey(tools.random)] };
  const projectKey = storedKey ?? tools.random(32);
  const complete = storedRing !== undefined && storedKey !== undefined;
  const entries = { ring: JSON.stringify(ring), projectKey: Buffer.from(projectKey).toString("base64url") };
  return {
    keys: { ok: true, value: { ring, projectKey } },
    writes: complete ? [] : [writeOf(project, secret, { name, entries })],
    replaced: secret !== undefined && storedRing === undefined && published === undefined,
  };
}

/** The keys as they are stored; undefined unless both can be read. */
export function readProjectKeys(project: Project, findSecret: FindSecret): ProjectKeys | undefined {
  const secret = findSecret(signingSecretName(project));
  if (secret === undefined || !isOwn(secret, project)) return undefined;
  const ring = readRing(entryText(secret, "ring"));
  const projectKey = readKey(entryText(secret, "projectKey"));
  return ring === undefined || projectKey === undefined ? undefined : { ring, projectKey };
}

function readKey(text: string | undefined): Uint8Array | undefined {
  const bytes = text === undefined ? undefined : Buffer.from(text, "base64url");
  return bytes?.length === 32 ? bytes : undefined;
}

function readRing(text: string | undefined): SigningRing | undefined {
  if (text === undefined) return undefined;
  try {
    const ring = JSON.parse(text) as unknown;
    return isRing(ring) ? ring : undefined;
  } catch (error) {
    // Somebody edited the Secret: the ring counts as lost.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isRing(value: unknown): value is SigningRing {
  const keys = (value as { readonly keys?: unknown } | null)?.keys;
  return Array.isArray(keys) && keys.length > 0 && keys.every(isSigningKey);
}

function isSigningKey(value: Json): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const key = value as { readonly [name: string]: Json };
  return [key.kid, key.x, key.d].every((part) => typeof part === "string") && typeof key.signs === "boolean";
}
