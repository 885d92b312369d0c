// Turns a request body into the text to store: checks reserved names and the schema, and merges an
// update into the stored text. Works on JSON text, so that numbers and the order of members stay as
// sent.

import type { ExpiryConfig, ProjectSettings } from "../../core/config/types.ts";
import { Problem, type ProblemItem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { pointerOf } from "../../core/json/json-pointer.ts";
import { kindOf, membersOf, mergeMembers, withoutMembers } from "../../core/json/members.ts";
import { parseJson } from "../../core/json/parse-json.ts";
import type { Operation } from "../../core/json/read-json-patch.ts";
import { depthOf, endOfValue } from "../../core/json/walk.ts";
import { idIn } from "../../core/object-id.ts";
import type { CompiledSchema } from "../../core/schema/compile-schema.ts";
import { type Filling, type Insertion, insertionsOf, withInsertions } from "../../core/schema/defaults/filling.ts";
import type { LiveResource } from "../config/directory.ts";
import { type Patch, patched } from "../http/patch.ts";
import { maxObjectBytes } from "../operation/plan.ts";
import { maxDepth } from "../store/ports/documents.ts";
import type { NewObject } from "../store/ports/objects.ts";
import { isObjectId } from "./object-ids.ts";
import { addsNoFailure } from "./ratchet.ts";
import { type Metadata, requireMetadata } from "./stored-metadata.ts";

/** Members that the service owns: returned on every object, never stored from a body. */
type ServiceMember = "id" | "_metadata";
export const serviceMembers: ReadonlySet<string> = new Set<ServiceMember>(["id", "_metadata"]);
/** Query parameters of lists, so they can't be data. */
const listParameters = new Set(["_sort", "_limit", "_offset", "_fields", "_count", "_cursor"]);

/** What the data of every stored object must meet, whichever request leaves it. */
export interface ObjectRules {
  readonly schema: CompiledSchema;
  /** What is filled into new objects; absent = nothing. */
  readonly filling?: Filling | undefined;
  /** Bytes of the data. A larger object may change, but not grow. */
  readonly maxBytes: number;
  /** An update may keep failures that the stored object has; absent = it may not. */
  readonly ratchets?: boolean;
  /** What data go through that don't meet the schema; absent = nothing. */
  readonly migration?: readonly Operation[] | undefined;
  /** What is filled into new objects, instead, that are in the form of the schema by then. */
  readonly nextFilling?: Filling | undefined;
}

export function objectRules(resource: LiveResource, { limits }: ProjectSettings): ObjectRules {
  const { schema, defaults, nextDefaults, config } = resource;
  const migration = config.nextSchemaBinds ? resource.migration : undefined;
  // What doesn't meet the schema may not stay while objects are migrated to it.
  const ratchets = config.updates === "Ratchet" && migration === undefined;
  const [filling, nextFilling] = [defaults?.filling, migration && nextDefaults?.filling];
  return { schema, filling, maxBytes: maxObjectBytes(limits), ratchets, migration, nextFilling };
}

/** What stored objects have to meet: of a schema that is not live yet, where there is one. */
export function storedRules(
  { schema, nextSchema = schema, migration }: LiveResource,
  { limits }: ProjectSettings,
): ObjectRules {
  return { schema: nextSchema, migration, maxBytes: maxObjectBytes(limits) };
}

/** The text of a new object. Throws Problem, such as `reserved_field` or `validation_failed`. */
export function validateNew(rules: ObjectRules, body: CanonicalJson, id: string, metadata: Metadata): string {
  requireObject(body);
  for (const { name } of membersOf(body.text)) {
    if (serviceMembers.has(name) || listParameters.has(name)) throw reserved(name, "leave it out");
  }
  const data = rules.filling === undefined && rules.nextFilling === undefined ? body.text : withDefaults(rules, body);
  return storable(rules, { id: JSON.stringify(id), data, _metadata: JSON.stringify(metadata) }, undefined);
}

function withDefaults(rules: ObjectRules, body: CanonicalJson): string {
  const data = withInsertions(body.text, missingDefaults(rules, body));
  requireDepth(data);
  return data;
}

/** The defaults that a body lacks, and where they go. */
export function missingDefaults(rules: ObjectRules, { text }: CanonicalJson): readonly Insertion[] {
  const missing = (filling: Filling): readonly Insertion[] => {
    const insertions = insertionsOf(filling, text, rules.maxBytes);
    if (insertions === undefined) throw tooLarge(rules.maxBytes, "more with its defaults");
    return insertions;
  };
  const { filling, nextFilling } = rules;
  const next = nextFilling && missing(nextFilling);
  if (next !== undefined && isInNextForm(rules, { ...unnamed, data: withInsertions(text, next) })) return next;
  return filling === undefined ? [] : missing(filling);
}

/** The same of data that were validated before. */
export function newObjectText(data: string, id: string, metadata: Metadata): string {
  return textOf({ id: JSON.stringify(id), data, _metadata: JSON.stringify(metadata) });
}

/**
 * An object that was stored elsewhere, as it is, with its id, owner and `_metadata`: no default is
 * filled in. Throws as validateNew does, and `invalid_line` for a text that no store has.
 */
export function validateStored(rules: ObjectRules, text: string): NewObject {
  const members = membersOf(text);
  const [first, last] = [members[0], members.at(-1)];
  if (first?.name !== "id" || last?.name !== "_metadata") {
    throw new Problem("invalid_line", "An object begins with its `id` and ends with its `_metadata`");
  }
  for (const { name } of members.slice(1, -1)) if (listParameters.has(name)) throw reserved(name, "leave it out");
  const id = idIn(text);
  if (!isObjectId(id)) throw new Problem("invalid_line", "The `id` has to be a UUIDv7");
  const { creator, creator_type } = requireMetadata(text.slice(last.valueStart, last.valueEnd), id);
  return { id, owner: `${creator_type}:${creator}`, text: storable(rules, splitObject(text), undefined) };
}

/**
 * The stored text with the body's members; `stored` itself if nothing changes. `id` and `_metadata`
 * may be sent back unchanged. Throws as validateNew does.
 */
export function validateUpdate(rules: ObjectRules, body: CanonicalJson, stored: string): string {
  requireObject(body);
  const before = splitObject(stored);
  const changes = new Map<string, string>();
  for (const { name, valueStart, valueEnd } of membersOf(body.text)) {
    const value = body.text.slice(valueStart, valueEnd);
    if (listParameters.has(name)) throw reserved(name, "leave it out");
    if (isServiceMember(name)) requireUnchanged(name, value, before);
    else changes.set(name, value);
  }
  if (changes.size === 0) return stored;
  // Also for unchanged values: the schema may have changed since.
  return updated(rules, before, ({ data }) => mergeMembers(data, changes));
}

/** The stored text with a patch applied. Throws as validateUpdate does, and as `patched` does. */
export function validatePatch(rules: ObjectRules, patch: Patch, stored: string): string {
  const before = splitObject(stored);
  return updated(rules, before, (object) => {
    const changed =
      patch.format === "merge-patch" ? applyMergePatch(patch.text, object) : applyJsonPatch(patch, object);
    if (changed === object.data) return undefined;
    requireNamesAndDepth(changed);
    return changed;
  });
}

/** The data that a change leaves; undefined where it changes nothing. */
type Change = (object: SplitObject) => string | undefined;

/**
 * Where the object is to be migrated, the change may be meant for the form that it has then:
 * patched after it, it would be undone.
 */
function updated(rules: ObjectRules, before: SplitObject, change: Change): string {
  const next = rules.migration && !isValid(rules, before) ? migratedData(rules.migration, before) : undefined;
  const data = next && unlessRefused(() => change({ ...before, data: next }));
  if (data !== undefined && isInNextForm(rules, { ...before, data })) {
    return storable(rules, { ...before, data }, before.data);
  }
  const changed = change(before);
  return changed === undefined ? textOf(before) : storable(rules, { ...before, data: changed }, before.data);
}

/** The text to store; `before` = data of the stored object. */
function storable(rules: ObjectRules, object: SplitObject, before: string | undefined): string {
  const { migration } = rules;
  const migrated = migration === undefined || isValid(rules, object) ? undefined : migratedData(migration, object);
  const data = migrated ?? object.data;
  requireStorable(rules, data, before);
  return textOf({ ...object, data });
}

function isValid({ schema }: ObjectRules, { data }: SplitObject): boolean {
  return schema.validate(parseJson(data), data).length === 0;
}

/** Valid, and nothing in it is for the patch to bring elsewhere. */
function isInNextForm(rules: ObjectRules, object: SplitObject): boolean {
  return isValid(rules, object) && migratedData(rules.migration ?? [], object) === undefined;
}

/** Undefined where the patch doesn't match the data. */
function migratedData(operations: readonly Operation[], object: SplitObject): string | undefined {
  return unlessRefused(() => {
    const data = applyJsonPatch({ format: "json-patch", operations }, object);
    requireNamesAndDepth(data);
    return data;
  });
}

function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function applyMergePatch(patch: string, before: SplitObject): string {
  if (kindOf(patch) !== "object") throw notObject(kindOf(patch));
  requireServiceMembersUnchanged(patch, before);
  return patched({ format: "merge-patch", text: withoutMembers(patch, serviceMembers) }, before.data);
}

function applyJsonPatch(patch: Patch & { readonly format: "json-patch" }, before: SplitObject): string {
  patch.operations.forEach((operation, at) => {
    const written = operation.op === "test" ? [] : [["path", operation.path[0]] as const];
    const taken = operation.op === "move" ? [["from", operation.from[0]] as const] : [];
    for (const [member, name] of [...written, ...taken]) {
      if (name !== undefined && isServiceMember(name))
        throw reserved(name, "a patch can only test it", `/${at}/${member}`);
    }
  });
  const changed = patched(patch, textOf(before));
  if (kindOf(changed) !== "object") throw notObject(kindOf(changed));
  // A patch of the root may have changed them.
  requireServiceMembersUnchanged(changed, before);
  return withoutMembers(changed, serviceMembers);
}

function requireServiceMembersUnchanged(text: string, before: SplitObject): void {
  for (const { name, valueStart, valueEnd } of membersOf(text)) {
    if (isServiceMember(name)) requireUnchanged(name, text.slice(valueStart, valueEnd), before);
  }
}

/** The checks that POST and PUT pass while their body is read, for the object that a patch made. */
function requireNamesAndDepth(data: string): void {
  for (const { name } of membersOf(data)) if (listParameters.has(name)) throw reserved(name, "leave it out");
  requireDepth(data);
}

function requireDepth(data: string): void {
  if (depthOf(data) > maxDepth)
    throw new Problem("too_deep", `An object may be nested at most ${maxDepth} levels deep`);
}

/** `before` = data of the stored object. The size comes first: it bounds the work of the schema. */
function requireStorable({ schema, maxBytes, ratchets }: ObjectRules, data: string, before: string | undefined): void {
  const bytes = Buffer.byteLength(data);
  if (bytes > maxBytes && bytes > Buffer.byteLength(before ?? "")) throw tooLarge(maxBytes, bytes);
  const validation = schema.validateFully(parseJson(data), data);
  const { failures: errors } = validation;
  if (errors.length === 0 || (ratchets && before !== undefined && addsNoFailure(schema, validation, data, before)))
    return;
  const told = [...new Map(errors.map((error) => [JSON.stringify(error), error])).values()];
  throw new Problem("validation_failed", summary(told), { errors: told });
}

function tooLarge(maxBytes: number, bytes: number | string): Problem {
  return new Problem(
    "document_too_large",
    `An object may have at most ${maxBytes} bytes (spec.limits.maxObjectBytes of the Project), but this one would have ${bytes}; make it smaller`,
  );
}

/** Refuses an object that no request would find: by the store's clock its time has come. */
export function expiredAlready(expiry: ExpiryConfig | undefined): Problem {
  const path = expiry !== undefined && "field" in expiry ? expiry.field.path : [];
  const errors = [
    {
      pointer: pointerOf(path),
      keyword: "expiry",
      message: "must be later than now, or the object has expired already",
    },
  ];
  return new Problem("validation_failed", summary(errors), { errors });
}

/** `text` is the stored one unless the object is to be migrated; `fault` is the first one. */
export type StoredForm =
  | { readonly text: string; readonly fault?: undefined }
  | { readonly fault: ProblemItem; readonly text?: undefined };

/** A stored text as the rules want it, which may be newer than it, or why it can't be so. */
export function storedForm(rules: ObjectRules, stored: string): StoredForm {
  const object = splitObject(stored);
  const [fault] = rules.schema.validate(parseJson(object.data), object.data);
  if (fault === undefined) return { text: stored };
  if (rules.migration === undefined) return { fault };
  try {
    const data = migratedData(rules.migration, object) ?? object.data;
    requireStorable(rules, data, object.data);
    return { text: textOf({ ...object, data }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { fault: error.errors?.[0] ?? { pointer: "", keyword: error.code, message: error.message } };
  }
}

/** `_metadata` of a stored text. */
export function metadataOf(stored: string): Metadata {
  return JSON.parse(splitObject(stored)._metadata) as Metadata;
}

/** The texts of a stored object: its data as an object, and each service member. */
interface SplitObject {
  readonly data: string;
  readonly id: string;
  readonly _metadata: string;
}

/** Of an object that has no id yet. */
const unnamed: Omit<SplitObject, "data"> = { id: '""', _metadata: "{}" };

const beforeId = '{"id":';
const beforeMetadata = ',"_metadata":';

/** Splits what `textOf` joined. Only the ends are searched: a quote within a string is escaped. */
function splitObject(stored: string): SplitObject {
  const end = stored.lastIndexOf(beforeMetadata);
  if (end < 0 || !stored.startsWith(beforeId)) throw new Error("A stored object has no id or no _metadata");
  const start = endOfValue(stored, beforeId.length);
  return {
    data: start === end ? "{}" : `{${stored.slice(start + 1, end)}}`,
    id: stored.slice(beforeId.length, start),
    _metadata: stored.slice(end + beforeMetadata.length, -1),
  };
}

function textOf({ id, data, _metadata }: SplitObject): string {
  return `${beforeId}${id}${data === "{}" ? "" : `,${data.slice(1, -1)}`}${beforeMetadata}${_metadata}}`;
}

function isServiceMember(name: string): name is ServiceMember {
  return serviceMembers.has(name);
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

function requireUnchanged(name: ServiceMember, sent: string, before: SplitObject): void {
  if (sent === before[name] || sorted(sent) === sorted(before[name])) return;
  throw reserved(name, "leave it out, or send it back unchanged");
}

/** Both values are small and flat or wrong, so comparing them with sorted members is enough. */
function sorted(text: string): string {
  const value = parseJson(text);
  if (value === null || typeof value !== "object") return text;
  return JSON.stringify(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function reserved(name: string, advice: string, pointer = `/${name}`): Problem {
  return new Problem("reserved_field", `\`${name}\` is a reserved name: ${advice}`, {
    errors: [{ pointer, keyword: "reserved", message: `is a reserved name: ${advice}` }],
  });
}
