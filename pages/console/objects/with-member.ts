// Adds a member to the text of an object that a person is writing, and leaves the rest of the text.

import { canonicalJson } from "../../../core/json/canonical.ts";
import { membersOf } from "../../../core/json/members.ts";
import { maxStoredDepth, prettyJson } from "../editor/pretty.ts";

export interface NewMember {
  readonly name: string;
  /** JSON text. */
  readonly value: string;
}

/** Names of the members; undefined of a text that is no JSON object. */
export function memberNames(text: string): ReadonlySet<string> | undefined {
  const read = canonicalJson(text, maxStoredDepth);
  if (!read.ok || read.json.kind !== "object") return undefined;
  return new Set(membersOf(read.json.text).map(({ name }) => name));
}

/** `text` = a JSON object without a member of this name. */
export function withMember(text: string, { name, value }: NewMember): string {
  const end = text.lastIndexOf("}");
  const before = text.slice(0, end).trimEnd();
  const comma = before.trimStart() === "{" ? "" : ",";
  const indented = prettyJson(value).replaceAll("\n", "\n  ");
  return `${before}${comma}\n  ${JSON.stringify(name)}: ${indented}\n${text.slice(end)}`;
}
