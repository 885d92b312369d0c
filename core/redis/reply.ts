// Gives Redis' replies their shapes; refuses with RedisFault what no server of ours answers.

import { RedisFault } from "./failure.ts";

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

/** A hash as HGETALL returns it: names and values alternate. */
export function fieldsOf(reply: unknown): ReadonlyMap<string, string> {
  const texts = textsOf(reply);
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < texts.length; at += 2) fields.set(texts[at] ?? "", texts[at + 1] ?? "");
  return fields;
}

function misshapen(wanted: string): RedisFault {
  return new RedisFault(`Redis answered with something else than ${wanted}`, { code: "REPLY" });
}
