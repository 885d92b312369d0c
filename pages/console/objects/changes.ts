// From an object as stored and as edited to the JSON Patch (RFC 6902) between them: an operation
// for each member, or one for the entire object where that is shorter or a patch may not have more.
// A PUT would keep removed members. Values stay text, so that no number is rounded.

import { canonicalJson } from "../../../core/json/canonical.ts";
import { pointerOf } from "../../../core/json/json-pointer.ts";
import { membersOf, valuesOf, withoutMembers } from "../../../core/json/members.ts";
import { maxOperations } from "../../../core/json/read-json-patch.ts";
import { maxStoredDepth } from "../editor/pretty.ts";

/** What the server sets, which nobody edits. */
export const ofTheServer: ReadonlySet<string> = new Set(["id", "_metadata"]);

export type Edited =
  /** `isChanged` is false where the patch would be empty. */
  | { readonly ok: true; readonly patch: string; readonly isChanged: boolean; readonly text: string }
  | { readonly ok: false; readonly message: string };

/** What a person edits of a stored object: canonical text without what the server sets. */
export function editablePart(stored: string): string {
  const read = canonicalJson(stored, maxStoredDepth);
  if (!read.ok || read.json.kind !== "object") throw new TypeError("The server stores objects");
  return withoutMembers(read.json.text, ofTheServer);
}

/** `stored` = the object as the server sent it. */
export function readEdited(stored: string, edited: string): Edited {
  const read = canonicalJson(edited, maxStoredDepth);
  if (!read.ok) return { ok: false, message: read.error.detail };
  if (read.json.kind !== "object") return { ok: false, message: "An object is expected: { … }" };
  const { text } = read.json;
  const before = valuesOf(editablePart(stored));
  const after = valuesOf(text);
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const written = [...after].filter(([name, value]) => before.get(name) !== value);
  const operations = [
    ...removed.map((name) => `{"op":"remove","path":${pathTo([name])}}`),
    ...written.map(([name, value]) => `{"op":"add","path":${pathTo([name])},"value":${value}}`),
  ];
  const parts = `[${operations.join(",")}]`;
  const whole = `[{"op":"replace","path":"","value":${withServerMembers(stored, text)}}]`;
  const isShort = operations.length <= maxOperations && parts.length <= whole.length;
  return { ok: true, patch: isShort ? parts : whole, isChanged: operations.length > 0, text };
}

/** The object that is stored once `edited` is: what the server has set stays as it is. */
function withServerMembers(stored: string, edited: string): string {
  // What a person has entered by such a name is left to the server to refuse.
  const own = membersOf(edited).map(({ start, valueEnd }) => edited.slice(start, valueEnd));
  const entered = new Set(membersOf(edited).map(({ name }) => name));
  const kept = (wanted: string): readonly string[] =>
    membersOf(stored)
      .filter(({ name }) => name === wanted && !entered.has(name))
      .map(({ start, valueEnd }) => stored.slice(start, valueEnd));
  return `{${[...kept("id"), ...own, ...kept("_metadata")].join(",")}}`;
}

/** A JSON Pointer (RFC 6901), as JSON text. */
export function pathTo(path: readonly string[]): string {
  return JSON.stringify(pointerOf(path));
}
