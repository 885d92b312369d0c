// The store's own Lua scripts, each in the folder of its subject, and their replies: a code, then
// what the script's header says.

import { OutcomeUnknown, StoreUnavailable } from "../../../core/errors/store-errors.ts";
import { RedisFault } from "../../../core/redis/failure.ts";
import { listOf, numberOf } from "../../../core/redis/reply.ts";
import { loadScript, runsWithoutMemory, type Script } from "../../../core/redis/script.ts";

const folder = new URL("./", import.meta.url);

/** Also runs when Redis' memory is used up. */
export function freeingScript(name: string): Script {
  return runsWithoutMemory(storeScript(name, "write"));
}

export function storeScript(name: string, kind: Script["kind"]): Script {
  return loadScript(folder, name, kind);
}

/** The first element of a reply. Scripts use the same names; a test compares the two. */
export const code = {
  done: 0,
  stale_index_set: 1,
  quota_exceeded: 2,
  conflict: 3,
  not_found: 4,
  busy: 5,
  more: 6,
  repeated: 7,
  failed: 8,
  not_unique: 9,
  missing_document: 10,
  parent_not_found: 11,
  not_a_container: 12,
  invalid_index: 13,
  index_out_of_range: 14,
  index_not_found: 15,
  key_exists: 16,
  create_refused: 17,
  document_too_large: 18,
  created: 19,
  replaced: 20,
  exhausted: 30,
} as const;

export type Code = (typeof code)[keyof typeof code];

/** A script's answer: its code, then what the script's header says. */
export interface ScriptReply {
  readonly code: Code;
  readonly rest: readonly unknown[];
}

export function scriptReply(reply: unknown): ScriptReply {
  const [first, ...rest] = listOf(reply);
  // The codes are checked against the scripts by a test.
  return { code: numberOf(first) as Code, rest };
}

/** A script answered with a code that its header doesn't name. */
export function unexpectedCode(script: string, code: Code): RedisFault {
  return new RedisFault(`The script ${script} answered with the unexpected code ${code}`, { code: "REPLY" });
}

/**
 * The reply of a script that was called without a version, as for all ids: nothing could be stale.
 */
export function neverStale<T>(reply: T | "stale"): T {
  if (reply !== "stale") return reply;
  throw new RedisFault("A script that was asked without a version answered that it is stale", { code: "REPLY" });
}

/** Awaits a step after one that took effect: if it fails, the call's outcome is unknown. */
export async function laterStep<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    throw new OutcomeUnknown("A part was done before Redis went away", { cause });
  }
}
