// The answers of the store's scripts: a code, then what the script's header says.

import { RedisFault } from "../../../core/redis/failure.ts";
import { listOf, numberOf } from "../../../core/redis/reply.ts";
import type { Code } from "./codes.ts";

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
