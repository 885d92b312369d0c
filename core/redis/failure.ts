// Turns what ioredis rejects with into the port's errors: StoreUnavailable when nothing can have
// happened, WritesRefused, StoreFull or PrimaryInDoubt when only reads work, OutcomeUnknown when a
// write was sent and not answered, RedisFault for answers that mean a defect.

import { ReplyError } from "ioredis";
import { OutcomeUnknown, PrimaryInDoubt, StoreFull, StoreUnavailable, WritesRefused } from "../errors/store-errors.ts";

/** An answer that a correct program never gets; `code` is the first word of Redis' error. */
export class RedisFault extends Error {
  override readonly name = "RedisFault";
  readonly code: string;

  constructor(message: string, facts: { readonly code: string; readonly cause?: unknown }) {
    super(message, { cause: facts.cause });
    this.code = facts.code;
  }
}

/**
 * Refused before anything was done, and worth another try later. A script is refused entirely: its
 * first write is a command that Redis refuses in all of these states, and once a script has
 * written, Redis lets it finish. One that frees memory or revokes something also runs when memory
 * is used up (`runsWithoutMemory`).
 */
const refusals: ReadonlySet<string> = new Set([
  "ASK",
  "BUSY",
  "CLUSTERDOWN",
  "LOADING",
  "MASTERDOWN",
  "MISCONF",
  "MOVED",
  "NOAUTH",
  "NOPERM",
  "NOREPLICAS",
  "NOSCRIPT",
  "OOM",
  "READONLY",
  "TRYAGAIN",
  "WRONGPASS",
]);

/** Those of a server that still answers reads. */
const writeRefusals: ReadonlySet<string> = new Set(["MISCONF", "NOREPLICAS", "OOM", "READONLY"]);
/** Those of a replica, and of a primary cut off from its replicas, which may be promoted. */
const doubtfulRefusals: ReadonlySet<string> = new Set(["NOREPLICAS", "READONLY"]);

/** The code of an error that Redis answered with; undefined when it isn't one. */
export function replyCode(error: unknown): string | undefined {
  if (!(error instanceof ReplyError)) return undefined;
  return /^[A-Z]+(?= |$)/.exec((error as Error).message)?.[0] ?? "ERR";
}

/** Redis answered, and with an error; otherwise no answer came, or nothing was asked. */
export function isErrorReply(failure: unknown): boolean {
  return (
    failure instanceof RedisFault || (failure instanceof StoreUnavailable && replyCode(failure.cause) !== undefined)
  );
}

/** Redis answers, and its user does not have the right: only a person can change that. */
export function isForbidden(error: unknown): boolean {
  return error instanceof StoreUnavailable && replyCode(error.cause) === "NOPERM";
}

/**
 * The code of the refusal at which ioredis gave up after its maximum of redirections. It follows
 * only refusals, so none of the attempts had an effect.
 */
function lastRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /^Too many Cluster redirections\. Last error: ReplyError: ([A-Z]+)(?= |$)/.exec(error.message)?.[1];
}

/** As Redis 7.0 says it, and as Valkey does. */
const elsewhere = /attempted to access a non local key|undeclared keys were accessed during rehashing/;

/**
 * A script met a key on another node, while a Cluster moves the slot: a read may be tried again.
 */
function isElsewhere(error: unknown): boolean {
  return error instanceof Error && elsewhere.test(error.message);
}

export function isUnknownScript(error: unknown): boolean {
  return replyCode(error) === "NOSCRIPT";
}

function refusalOf(code: string): typeof StoreUnavailable {
  if (code === "OOM") return StoreFull;
  if (doubtfulRefusals.has(code)) return PrimaryInDoubt;
  return writeRefusals.has(code) ? WritesRefused : StoreUnavailable;
}

export interface Attempt {
  readonly what: string;
  readonly kind: "read" | "write";
  /** Whether its bytes were handed to a connection. */
  readonly sent: boolean;
}

export function failureOf(error: unknown, attempt: Attempt): Error {
  if (error instanceof StoreUnavailable || error instanceof OutcomeUnknown) return error;
  const code = replyCode(error) ?? lastRefusal(error);
  if (code !== undefined) {
    const isRefusal = refusals.has(code) || (attempt.kind === "read" && isElsewhere(error));
    if (isRefusal) {
      const Refusal = refusalOf(code);
      return new Refusal(`Redis refused ${attempt.what}: ${code}`, { cause: error });
    }
    return new RedisFault(`Redis failed ${attempt.what}: ${code}`, { code, cause: error });
  }
  if (attempt.kind === "write" && attempt.sent) {
    return new OutcomeUnknown(`No answer to ${attempt.what}`, { cause: error });
  }
  return new StoreUnavailable(`${attempt.what} could not be done`, { cause: error });
}
