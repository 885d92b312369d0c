// Gives Redis' replies their shapes; refuses with RedisFault what no server of ours answers.

import type { Code } from "./codes.ts";
import { RedisFault } from "./failure.ts";

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

export function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw misshapen("a list");
  return reply;
}

export function numberOf(reply: unknown): number {
  if (typeof reply !== "number") throw misshapen("a number");
  return reply;
}

export function textOf(reply: unknown): string {
  if (typeof reply !== "string") throw misshapen("a text");
  return reply;
}

export function optionalText(reply: unknown): string | undefined {
  return reply === null || reply === undefined ? undefined : textOf(reply);
}

export function textsOf(reply: unknown): readonly string[] {
  const list = listOf(reply);
  if (!list.every((entry) => typeof entry === "string")) throw misshapen("a list of texts");
  return list;
}

/** A hash as HGETALL gives it: names and values by turns. */
export function fieldsOf(reply: unknown): ReadonlyMap<string, string> {
  const texts = textsOf(reply);
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < texts.length; at += 2) fields.set(texts[at] ?? "", texts[at + 1] ?? "");
  return fields;
}

/** A script answered with a code that its header doesn't name. */
export function unexpectedCode(script: string, code: Code): RedisFault {
  return new RedisFault(`The script ${script} answered with the unexpected code ${code}`, { code: "REPLY" });
}

function misshapen(wanted: string): RedisFault {
  return new RedisFault(`Redis answered with something else than ${wanted}`, { code: "REPLY" });
}
