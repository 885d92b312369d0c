// Reads a request's body as one canonical JSON text. Refuses other media types and codings, bodies over the limit, and everything that
// is not exactly one well-formed JSON text. The rest of a refused body is read and thrown away, because a connection that is closed
// over unread bytes takes the response along.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Problem } from "../../core/errors/problem.ts";
import { type CanonicalJson, canonicalJsonOfBytes } from "../../core/json/canonical.ts";
import type { BodyBudget } from "../admission/memory-budgets.ts";
import { maxDepth } from "../store/ports/documents.ts";

const jsonType = /^(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]*\+json)$/;
/** What curl sends by itself with -d, and what browsers send for a plain string. */
const readAsJson = new Set(["application/x-www-form-urlencoded", "text/plain"]);

/** Throws `unsupported_media_type` unless the content type is one that is read as JSON. */
export function requireJson(contentType: string | undefined): void {
  if (contentType === undefined || contentType === "") return;
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (jsonType.test(type) || readAsJson.has(type)) return;
  throw new Problem("unsupported_media_type", "Send the body as JSON, with `Content-Type: application/json`");
}

/**
 * Throws `transfer_coding_not_supported` (RFC 9112 §6.1) or `unsupported_media_type` (RFC 9110 §8.4) unless the bytes of a body are the
 * text itself: read as JSON, what is coded would only be malformed.
 */
function requirePlain({
  "transfer-encoding": transfer = "",
  "content-encoding": content = "",
}: IncomingHttpHeaders): void {
  // Where chunked is not the last coding, the message has no known end: Node refuses it and closes the connection.
  if (/,\s*chunked\s*$/i.test(transfer)) {
    throw new Problem(
      "transfer_coding_not_supported",
      "Send the body with `Transfer-Encoding: chunked` alone, or with `Content-Length`",
    );
  }
  if (content === "" || content.trim().toLowerCase() === "identity") return;
  throw new Problem("unsupported_media_type", "Send the body uncompressed, without a Content-Encoding", {
    headers: { "Accept-Encoding": "identity" },
  });
}

/** A body on its way. */
export interface ArrivingBody {
  readonly budget: BodyBudget;
  readonly message: IncomingMessage;
  /** Resolves when the connection refuses the rest of it. */
  readonly refused: Promise<Error> | undefined;
  /** Called once the body is there, with what gives its bytes back to the budget; for when its write is done. */
  readonly onComplete: (release: () => void) => void;
  /** Sends 100 Continue, should the client wait for that. */
  sendContinue(): void;
}

export async function readBody(maxBytes: number, body: ArrivingBody, depth = maxDepth): Promise<CanonicalJson> {
  const { headers } = body.message;
  requirePlain(headers);
  requireJson(headers["content-type"]);
  if (Number(headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  body.sendContinue();
  const bytes = await collect(body, maxBytes);
  if (bytes.length === 0) throw new Problem("body_required", "Send one JSON text as the body");
  const result = canonicalJsonOfBytes(bytes, depth);
  if (!result.ok) throw new Problem(result.error.code, result.error.detail);
  return result.json;
}

function collect({ budget, message, refused, onComplete }: ArrivingBody, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let settled = false;
    const settle = (finish: () => void) => {
      if (settled) return;
      settled = true;
      message.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut);
      finish();
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      try {
        budget.take(chunk.length, length);
        if (length > maxBytes) throw tooLarge(maxBytes);
      } catch (problem) {
        chunks.length = 0;
        refuse(problem);
      }
    };
    const refuse = (error: unknown) =>
      settle(() => {
        budget.release(length);
        reject(error);
      });
    const onEnd = () =>
      settle(() => {
        onComplete(() => budget.release(length));
        resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      });
    const onCut = () => refuse(new Problem("invalid_request", "The connection ended before the body was complete"));
    // The client left while the request waited: a destroyed message reports neither an end nor its close any more.
    if (message.destroyed) {
      onCut();
      return;
    }
    message.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut);
    void refused?.then((error) => refuse(error));
  });
}

function tooLarge(maxBytes: number): Problem {
  return new Problem(
    "body_too_large",
    `A body may have at most ${maxBytes} bytes here (spec.limits.maxBodyBytes of the Project); send a smaller one`,
  );
}
