// Receives a request's body, then reads it as one canonical JSON text. Refuses other media types and codings, bodies over the limit, and
// everything that is not exactly one well-formed JSON text. The rest of a refused body is read and thrown away, because a connection that is closed
// over unread bytes takes the response along.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Problem } from "../../core/errors/problem.ts";
import {
  type CanonicalJson,
  type CanonicalReader,
  type CanonicalResult,
  canonicalReader,
} from "../../core/json/canonical.ts";
import type { ProjectLimiter } from "../admission/fair-share.ts";
import type { BodyBudget } from "../admission/memory-budgets.ts";
import { maxDepth } from "../store/ports/documents.ts";

const jsonType = /^(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]*\+json)$/;
/** What curl sends by itself with -d, and what browsers send for a plain string. */
const readAsJson = new Set(["application/x-www-form-urlencoded", "text/plain"]);

/**
 * Throws `transfer_coding_not_supported` (RFC 9112 §6.1) or `unsupported_media_type` (RFC 9110 §8.4) unless the bytes of a body are the
 * text itself, of a content type that is read as JSON: what is coded would only be malformed.
 */
function requirePlainJson({
  "transfer-encoding": transfer = "",
  "content-encoding": coding = "",
  "content-type": contentType = "",
}: IncomingHttpHeaders): void {
  // Where chunked is not the last coding, the message has no known end: Node refuses it and closes the connection.
  if (/,\s*chunked\s*$/i.test(transfer)) {
    throw new Problem(
      "transfer_coding_not_supported",
      "Send the body with `Transfer-Encoding: chunked` alone, or with `Content-Length`",
    );
  }
  if (coding !== "" && coding.trim().toLowerCase() !== "identity") {
    throw new Problem("unsupported_media_type", "Send the body uncompressed, without a Content-Encoding", {
      headers: { "Accept-Encoding": "identity" },
    });
  }
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (contentType === "" || jsonType.test(type) || readAsJson.has(type)) return;
  throw new Problem("unsupported_media_type", "Send the body as JSON, with `Content-Type: application/json`");
}

/** A body on its way. */
export interface ArrivingBody {
  readonly budget: BodyBudget;
  readonly message: IncomingMessage;
  /** Resolves when the connection refuses the rest of it. */
  readonly refused: Promise<Error> | undefined;
  /** Called once the body is there, with what gives its bytes back to the budget; for when its write is done. */
  readonly onComplete: (release: () => void) => void;
  /** Sends 100 Continue, where the client waits for that. */
  readonly sendContinue: (() => void) | undefined;
}

/** The bytes of the body, once all of them have arrived. */
export async function receiveBody(maxBytes: number, body: ArrivingBody): Promise<Uint8Array> {
  const { headers } = body.message;
  requirePlainJson(headers);
  if (Number(headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  body.sendContinue?.();
  const bytes = await collect(body, maxBytes);
  if (bytes.length === 0) throw new Problem("body_required", "Send one JSON text as the body");
  return bytes;
}

/** Characters that are read before the event loop may turn to others: a millisecond of the costliest text, and the whole of most. */
const partLength = 32 * 1024;

/** Reads a body by turns of its project, so that a long one holds up no other. */
export async function parseBody(
  bytes: Uint8Array,
  limiter: Pick<ProjectLimiter, "inTurn">,
  depth = maxDepth,
): Promise<CanonicalJson> {
  let reader: CanonicalReader | undefined;
  let result: CanonicalResult | undefined;
  while (result === undefined) {
    result = await limiter.inTurn(() => {
      reader ??= canonicalReader(bytes, depth);
      return reader.read(partLength);
    });
  }
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
