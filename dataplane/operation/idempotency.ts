// Recognises the repetition of a POST by its Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header). A write stores a record in the same atomic step, so
// that its repetition finds out what was done, on any replica and after any crash. Refuses a
// malformed key with `invalid_header`, and with 422 a key that was used for another body.

import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { ProjectSettings } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { type Caller, ownerOf } from "../authenticate/caller.ts";
import type { IdempotencyRecord } from "../store/ports/idempotency.ts";
import type { Path } from "../store/ports/refs.ts";

const quoted = /^"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"$/;
const bare = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/;

/** The key without its quotes, which many clients leave out; undefined when there is none. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers["idempotency-key"];
  if (sent === undefined) return undefined;
  // Two headers arrive joined by a comma, and would pass for one key.
  const key = typeof sent === "string" ? (quoted.exec(sent)?.[1] ?? bare.exec(sent)?.[0]) : undefined;
  if (key !== undefined) return key;
  throw new Problem(
    "invalid_header",
    'Idempotency-Key must be one string of 1 to 255 printable ASCII characters other than " and \\, in double quotes or without spaces',
  );
}

/** How long a repetition is recognised. */
export const recordSeconds = 24 * 60 * 60;

interface Post {
  readonly project: ProjectSettings;
  /** UID of the ApiResource or RootKey. */
  readonly uid: string;
  readonly caller: Caller;
  /** Below the collection or root key that the record is kept with. */
  readonly path: Path;
  /** Value of the header. */
  readonly key: string;
  readonly body: CanonicalJson;
}

/** The record of a POST. `generated` = what the service added (id, time), without spaces. */
export function recordOf(post: Post, generated: readonly (string | number)[]): IdempotencyRecord {
  const text = [fingerprint(post.body), ...generated].join(" ");
  return { key: recordKeyOf(post), text, seconds: recordSeconds };
}

/** What the record of such a POST is found by. */
export function recordKeyOf({ project, uid, caller, path, key }: Omit<Post, "body">): string {
  // By both UIDs: a resource that was created again under its name repeats no earlier responses.
  return hash("sha256", JSON.stringify([project.uid, uid, ownerOf(caller), path, key]), "base64url");
}

/** What the service added to the first request. Throws Problem `idempotency_key_reused`. */
export function generatedOf(record: string, body: CanonicalJson): readonly string[] {
  const [, ...generated] = requireSameBody(record, body);
  return generated;
}

/** The parts of the record of a POST with this body. Throws Problem `idempotency_key_reused`. */
export function requireSameBody(record: string, body: CanonicalJson): readonly string[] {
  const parts = record.split(" ");
  if (parts[0] === fingerprint(body)) return parts;
  throw new Problem(
    "idempotency_key_reused",
    "This Idempotency-Key was used with another body in the last 24 hours; send a new key with a new request",
  );
}

/** In a response that repeats an earlier one. */
export const replayed = { "Idempotent-Replayed": "true" } as const;

/** Hashes the canonical text: white space does not make another body. */
function fingerprint({ text }: CanonicalJson): string {
  return hash("sha256", text, "base64url");
}
