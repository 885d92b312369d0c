// Receives a request's body, then parses it as one canonical JSON text. Refuses other media types
// and codings, bodies over the limit, and everything but one well-formed JSON text.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Problem } from "../../core/errors/problem.ts";
import {
  type CanonicalJson,
  type CanonicalReader,
  type CanonicalResult,
  canonicalReader,
} from "../../core/json/canonical.ts";
import type { ProjectLimiter, Slot } from "../admission/fair-share.ts";
import type { MemoryShare } from "../admission/memory-budgets.ts";
import { maxDepth } from "../store/ports/documents.ts";
import type { IncomingRequest } from "./exchange.ts";

const jsonType = /^(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]*\+json)$/;
/** What curl sends by itself with -d, and what browsers send for a plain string. */
const readAsJson = new Set(["application/x-www-form-urlencoded", "text/plain"]);

const nothing = Buffer.alloc(0);

/** One JSON text. */
const json = { type: jsonType, wanted: "JSON, with `Content-Type: application/json`" };
/** One JSON text a line. There is no registered type. */
const jsonLines = {
  type: /^application\/(?:x-ndjson|ndjson|jsonl)$/,
  wanted: "one JSON text a line, with `Content-Type: application/x-ndjson`",
};

/**
 * Throws `transfer_coding_not_supported` (RFC 9112 §6.1) or `unsupported_media_type` (RFC 9110
 * §8.4) unless the body is plain text of a type that is parsed so.
 */
function requirePlain(
  {
    "transfer-encoding": transfer = "",
    "content-encoding": coding = "",
    "content-type": contentType = "",
  }: IncomingHttpHeaders,
  { type: wantedType, wanted }: typeof json,
): void {
  // Where chunked is not the last coding, Node refuses the message and closes the connection.
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
  if (contentType === "" || wantedType.test(type) || readAsJson.has(type)) return;
  throw new Problem("unsupported_media_type", `Send the body as ${wanted}`);
}

interface ReceivedBody {
  readonly bytes: Uint8Array;
  /** Releases its bytes in the budget; called when its write is done. */
  readonly release: () => void;
}

type ArrivingBody = Pick<IncomingRequest, "bodyRefused" | "sendContinue"> & {
  readonly request: { readonly raw: IncomingMessage };
};

/** The body, once all of it has arrived. It is counted in `memory`. */
export async function receiveBody(maxBytes: number, memory: MemoryShare, body: ArrivingBody): Promise<ReceivedBody> {
  const { headers } = body.request.raw;
  requirePlain(headers, json);
  if (Number(headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  body.sendContinue?.();
  const received = await collect(memory, body, maxBytes);
  if (received.bytes.length === 0) throw new Problem("body_required", "Send one JSON text as the body");
  return received;
}

/**
 * A body of lines in the pieces in which it arrives. The client waits while a piece is used. What
 * is left of it when the reader ends early is let go.
 */
export async function* receiveLines({
  request: { raw: message },
  bodyRefused,
  sendContinue,
}: ArrivingBody): AsyncGenerator<Uint8Array> {
  requirePlain(message.headers, jsonLines);
  sendContinue?.();
  const pieces = message.iterator({ destroyOnReturn: false });
  const refused = bodyRefused?.then((error) => ({ error }));
  try {
    for (;;) {
      const next = pieces.next().catch(() => ({ error: cutOff() }));
      const piece = await (refused === undefined ? next : Promise.race([next, refused]));
      if ("error" in piece) throw piece.error;
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    // Not awaited: where the rest is refused, the next piece never comes. Before it has returned,
    // the message would not flow, and the next request of the connection never be read.
    void pieces.return?.(undefined).then(() => message.resume());
  }
}

/** Characters that are parsed in one turn: a millisecond of the costliest text. */
const partLength = 32 * 1024;

/** Parses a body in turns of its project, so that a long one delays no other. */
export async function parseBody(
  bytes: Uint8Array,
  limiter: Pick<ProjectLimiter, "runFairly">,
  slot?: Slot,
  depth = maxDepth,
): Promise<CanonicalJson> {
  const result = await readInTurns(bytes, limiter, slot, depth);
  if (!result.ok) throw new Problem(result.error.code, result.error.detail);
  return result.json;
}

/** The same, for who says by itself what is wrong. */
export async function readInTurns(
  bytes: Uint8Array,
  limiter: Pick<ProjectLimiter, "runFairly">,
  slot: Slot | undefined,
  depth: number,
): Promise<CanonicalResult> {
  let reader: CanonicalReader | undefined;
  let result: CanonicalResult | undefined;
  while (result === undefined) {
    result = await limiter.runFairly(() => {
      reader ??= canonicalReader(bytes, depth);
      return reader.read(partLength);
    }, slot);
  }
  return result;
}

/**
 * Copies a body into one buffer that grows and is counted in full. The chunks can't be kept: each
 * is a view of a larger buffer, and may have one byte.
 */
function collect(
  memory: MemoryShare,
  { request: { raw: message }, bodyRefused }: ArrivingBody,
  maxBytes: number,
): Promise<ReceivedBody> {
  return new Promise((resolve, reject) => {
    const expected = Number(message.headers["content-length"] ?? maxBytes);
    let piece: Buffer = nothing;
    let length = 0;
    /** Bytes of the piece. */
    let counted = 0;
    let settled = false;
    /** False where it was settled before. */
    const settle = (): boolean => {
      if (settled) return false;
      settled = true;
      message.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut);
      return true;
    };
    /** Makes room for a chunk that ends there; false = the budget has none. */
    const hasPlace = (chunk: Buffer, end: number): boolean => {
      if (end <= counted) return true;
      // A body in one chunk, as most are, need not be copied.
      const isComplete = chunk.length === expected;
      const size = isComplete ? end : Math.max(end, Math.min(2 * counted, expected));
      if (!memory.take(size - counted)) return false;
      counted = size;
      piece = isComplete ? chunk : enlarged(piece, size);
      return true;
    };
    const onData = (chunk: Buffer): void => {
      const end = length + chunk.length;
      if (end > maxBytes) refuse(tooLarge(maxBytes));
      else if (!hasPlace(chunk, end)) refuse(tooManyBodies());
      else {
        if (piece !== chunk) chunk.copy(piece, length);
        length = end;
      }
    };
    const refuse = (error: unknown) => {
      if (!settle()) return;
      memory.release(counted);
      reject(error);
    };
    const onEnd = () => {
      if (!settle()) return;
      resolve({ bytes: piece.subarray(0, length), release: () => memory.release(counted) });
      piece = nothing;
    };
    const onCut = () => refuse(cutOff());
    // The client left while the request waited: a destroyed message emits neither end nor close.
    if (message.destroyed) {
      onCut();
      return;
    }
    message.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut);
    void bodyRefused?.then((error) => refuse(error));
  });
}

function enlarged(piece: Buffer, size: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(size);
  piece.copy(larger);
  return larger;
}

function cutOff(): Problem {
  return new Problem("invalid_request", "The connection ended before the body was complete");
}

export function tooManyBodies(): Problem {
  return new Problem("body_busy", "Too many bodies at once; try again", { headers: { "Retry-After": "2" } });
}

function tooLarge(maxBytes: number): Problem {
  return new Problem(
    "body_too_large",
    `A body may have at most ${maxBytes} bytes here (spec.limits.maxBodyBytes of the Project); send a smaller one`,
  );
}
