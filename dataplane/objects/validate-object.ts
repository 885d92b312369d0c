// Turns a request body into the text of an object to store: checks reserved names and the schema, and merges an update
// into what is stored. Works on JSON text, so that numbers and member order come through as they were sent.

import { Problem, type ProblemItem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { kindOf, type Member, membersOf, mergeMembers, withoutMembers } from "../../core/json/members.ts";
import { depthOf } from "../../core/json/walk.ts";
import type { CompiledSchema } from "../../core/schema/compile-schema.ts";
import { type Patch, patched } from "../http/patch.ts";
import { maxDepth } from "../store/ports/documents.ts";

/** Members that the service owns: returned on every object, never stored from a body. */
const serviceMembers = new Set(["id", "_metadata"]);
/** Query parameters of lists, so they can't be data. */
const listParameters = new Set(["_sort", "_limit", "_offset", "_fields", "_count", "_cursor"]);

export interface Metadata {
  /** Unix seconds. */
  readonly created: number;
  readonly creator: string;
  readonly creator_type: string;
}

/** What the data of every stored object must meet, whichever request leaves it. */
export interface ObjectRules {
  readonly schema: CompiledSchema;
  /** Bytes of the data. An object that is larger already may change, and not grow. */
  readonly maxBytes: number;
}

/** The text to store for a new object. Throws `object_required`, `reserved_field`, `document_too_large` or `validation_failed`. */
export function validateNew(rules: ObjectRules, body: CanonicalJson, id: string, metadata: Metadata): string {
  requireObject(body);
  for (const { name } of membersOf(body.text)) {
    if (serviceMembers.has(name) || listParameters.has(name)) throw reserved(name, "leave it out");
  }
  requireStorable(rules, body.text, "{}");
  return newObjectText(body, id, metadata);
}

/** The same of a body that was validated before. */
export function newObjectText({ text }: CanonicalJson, id: string, metadata: Metadata): string {
  const data = text === "{}" ? "" : `${text.slice(1, -1)},`;
  return `{"id":${JSON.stringify(id)},${data}"_metadata":${JSON.stringify(metadata)}}`;
}

/**
 * The stored text with the body's members in it, validated as a whole unless the body names none; the very text `stored`
 * when nothing changes. Throws as validateNew does; `id` and `_metadata` may be sent back unchanged.
 */
export function validateUpdate(rules: ObjectRules, body: CanonicalJson, stored: string): string {
  requireObject(body);
  const storedMembers = membersOf(stored);
  const changes = new Map<string, string>();
  for (const member of membersOf(body.text)) {
    const value = body.text.slice(member.valueStart, member.valueEnd);
    if (listParameters.has(member.name)) throw reserved(member.name, "leave it out");
    if (serviceMembers.has(member.name))
      requireUnchanged(member.name, value, memberText(stored, storedMembers, member.name));
    else changes.set(member.name, value);
  }
  if (changes.size === 0) return stored;
  const { data, id, metadata } = separate(stored, storedMembers);
  const merged = mergeMembers(data, changes);
  // Also when the values are the stored ones: since they were stored the schema may have changed.
  requireStorable(rules, merged, data);
  if (merged === data) return stored;
  return `{"id":${id},${merged === "{}" ? "" : `${merged.slice(1, -1)},`}"_metadata":${metadata}}`;
}

/** The stored text with a patch applied to it, validated as a whole. Throws as validateUpdate does, and as `patched` does. */
export function validatePatch(rules: ObjectRules, patch: Patch, stored: string): string {
  const members = membersOf(stored);
  const { data, id, metadata } = separate(stored, members);
  const changed =
    patch.format === "merge-patch" ? applyMergePatch(patch.text, stored, data) : applyJsonPatch(patch, stored);
  if (changed === data) return stored;
  requireNamesAndDepth(changed);
  requireStorable(rules, changed, data);
  return `{"id":${id},${changed === "{}" ? "" : `${changed.slice(1, -1)},`}"_metadata":${metadata}}`;
}

function applyMergePatch(patch: string, stored: string, data: string): string {
  if (kindOf(patch) !== "object") throw notObject(kindOf(patch));
  requireServiceMembersUnchanged(patch, stored);
  return patched({ format: "merge-patch", text: withoutMembers(patch, serviceMembers) }, data);
}

function applyJsonPatch(patch: Patch & { readonly format: "json-patch" }, stored: string): string {
  patch.operations.forEach((operation, at) => {
    const written = operation.op === "test" ? [] : [["path", operation.path[0]] as const];
    const taken = operation.op === "move" ? [["from", operation.from[0]] as const] : [];
    for (const [member, name] of [...written, ...taken]) {
      if (name !== undefined && serviceMembers.has(name))
        throw reserved(name, "a patch can only test it", `/${at}/${member}`);
    }
  });
  const changed = patched(patch, stored);
  if (kindOf(changed) !== "object") throw notObject(kindOf(changed));
  // A value that replaces the whole object may have changed them; otherwise they are as they were.
  requireServiceMembersUnchanged(changed, stored);
  return withoutMembers(changed, serviceMembers);
}

function requireServiceMembersUnchanged(text: string, stored: string): void {
  const members = membersOf(stored);
  for (const { name, valueStart, valueEnd } of membersOf(text)) {
    if (serviceMembers.has(name))
      requireUnchanged(name, text.slice(valueStart, valueEnd), memberText(stored, members, name));
  }
}

/** The checks that POST and PUT pass while their body is read, for the object that a patch made. */
function requireNamesAndDepth(data: string): void {
  for (const { name } of membersOf(data)) if (listParameters.has(name)) throw reserved(name, "leave it out");
  if (depthOf(data) > maxDepth)
    throw new Problem("too_deep", `An object may be nested at most ${maxDepth} levels deep`);
}

/** The size first: how much work the schema is goes by it. */
function requireStorable({ schema, maxBytes }: ObjectRules, data: string, before: string): void {
  const bytes = Buffer.byteLength(data);
  if (bytes > maxBytes && bytes > Buffer.byteLength(before)) {
    throw new Problem(
      "document_too_large",
      `An object may have at most ${maxBytes} bytes, but this one would have ${bytes}; make it smaller`,
    );
  }
  const errors = schema.validate(JSON.parse(data), data);
  if (errors.length > 0) throw new Problem("validation_failed", summary(errors), { errors });
}

/** `_metadata` of a stored text. */
export function metadataOf(stored: string): Metadata {
  const text = memberText(stored, membersOf(stored), "_metadata");
  if (text === undefined) throw new Error("A stored object has no _metadata");
  return JSON.parse(text) as Metadata;
}

function separate(stored: string, members: readonly Member[]): { data: string; id: string; metadata: string } {
  const kept = members.filter((member) => !serviceMembers.has(member.name));
  return {
    data: `{${kept.map((member) => stored.slice(member.start, member.valueEnd)).join(",")}}`,
    id: memberText(stored, members, "id") ?? "null",
    metadata: memberText(stored, members, "_metadata") ?? "null",
  };
}

function memberText(text: string, members: readonly Member[], name: string): string | undefined {
  const member = members.find((candidate) => candidate.name === name);
  return member && text.slice(member.valueStart, member.valueEnd);
}

function requireObject(body: CanonicalJson): void {
  if (body.kind !== "object") throw notObject(body.kind);
}

function notObject(kind: string): Problem {
  return new Problem("object_required", `Send a JSON object with the resource's fields, not ${article(kind)}`);
}

function article(kind: string): string {
  return kind === "null" ? kind : `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}

function summary(errors: readonly ProblemItem[]): string {
  const first = errors[0];
  const more = errors.length > 1 ? `, and ${errors.length - 1} more in \`errors\`` : "";
  return `${first?.pointer || "The object"}: ${first?.message}${more}`;
}

function requireUnchanged(name: string, sent: string, stored: string | undefined): void {
  if (stored !== undefined && (sent === stored || sorted(sent) === sorted(stored))) return;
  throw reserved(name, "leave it out, or send it back unchanged");
}

/** Both values are small and flat or wrong, so comparing them with sorted members is enough. */
function sorted(text: string): string {
  const value: unknown = JSON.parse(text);
  if (value === null || typeof value !== "object") return text;
  return JSON.stringify(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function reserved(name: string, advice: string, pointer = `/${name}`): Problem {
  return new Problem("reserved_field", `\`${name}\` is a reserved name: ${advice}`, {
    errors: [{ pointer, keyword: "reserved", message: `is a reserved name: ${advice}` }],
  });
}
