// Reads the Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header): a string in double quotes, or, as many clients
// write it, without them. Refuses with `invalid_header` what is neither.

import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "../../core/errors/problem.ts";

const quoted = /^"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"$/;
const bare = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/;

/** The key without quotes; undefined when there is none. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers["idempotency-key"];
  if (sent === undefined) return undefined;
  // Two headers are joined by a comma, and would pass for one key.
  const key = typeof sent === "string" ? (quoted.exec(sent)?.[1] ?? bare.exec(sent)?.[0]) : undefined;
  if (key !== undefined) return key;
  throw new Problem(
    "invalid_header",
    'Idempotency-Key is one string of 1 to 255 printable ASCII characters other than " and \\, in double quotes or without spaces',
  );
}
