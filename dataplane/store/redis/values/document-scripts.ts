// Typed wrappers of the scripts that read and write values inside one document: only they know the
// positions of keys and arguments.

import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { numberOf, textOf } from "../../../../core/redis/reply.ts";
import type { DocumentRead, DocumentRefusal, Expected } from "../../ports/documents.ts";
import type { IdempotencyRecord, Repeated } from "../../ports/idempotency.ts";
import type { Path } from "../../ports/refs.ts";
import { createWriter, repeatedBy } from "../idempotency-records.ts";
import type { DocumentKeys } from "../keys.ts";
import { sha1 } from "../objects/objects.ts";
import { code, freeingScript, type ScriptReply, scriptReply, storeScript, unexpectedCode } from "../store-script.ts";

export interface ChangeValue {
  readonly keys: DocumentKeys;
  readonly path: Path;
  readonly expected?: Expected | undefined;
}

export interface WriteValue extends ChangeValue {
  readonly record?: IdempotencyRecord | undefined;
  readonly text: string;
  readonly maxBytes: number;
  readonly maxGrowth?: number | undefined;
}

export interface PutValue extends WriteValue {
  readonly mayCreate: boolean;
  readonly minMembers?: number | undefined;
}

export interface ReplaceContainer extends Omit<WriteValue, "expected"> {
  /** SHA-1 of the text that was read at `path`. */
  readonly previous: string;
  /** Whether `text` is shorter than what it replaces: that works when Redis' memory is used up. */
  readonly shrinks: boolean;
}

/** There when the call had a `maxGrowth`. */
interface Grown {
  readonly growth?: number;
}
type Created = { readonly outcome: "created" } & Grown;
type Replaced = { readonly outcome: "replaced" } & Grown;
type ContainerReplaced = { readonly outcome: "done" } & Grown;
type ContainerKept = { readonly outcome: "conflict" | "document_too_large" | "quota_exceeded" };
export type MissingDocument = { readonly outcome: "missing_document" };

export interface DocumentScripts {
  /** False when something is stored already. */
  initialise(keys: DocumentKeys, text: string): Promise<boolean>;
  read(keys: DocumentKeys, path: Path): Promise<DocumentRead | MissingDocument>;
  insert(call: WriteValue): Promise<Created | DocumentRefusal | Repeated>;
  put(call: PutValue): Promise<Created | Replaced | DocumentRefusal>;
  remove(call: ChangeValue): Promise<{ readonly outcome: "removed" } | DocumentRefusal>;
  replaceContainer(call: ReplaceContainer): Promise<ContainerReplaced | ContainerKept | Repeated>;
}

export function createDocumentScripts(redisClient: RedisClient): DocumentScripts {
  const initialise = storeScript("values/initialise-document-3", "write");
  const read = storeScript("values/read-value-1", "read");
  const insertScript = storeScript("values/insert-value-3", "write");
  const insert = createWriter(redisClient, insertScript);
  const put = storeScript("values/put-value-3", "write");
  const remove = storeScript("values/remove-value-3", "write");
  const replaceContainer = createWriter(redisClient, storeScript("values/replace-container-3", "write"));
  const shrinkContainer = freeingScript("values/replace-container-3");
  const all = ({ value, size, log }: DocumentKeys) => [value, size, log];

  return {
    async initialise(keys, text) {
      return scriptReply(await redisClient.run(initialise, all(keys), [text, keys.declaredLog])).code === code.done;
    },
    async read(keys, path) {
      const reply = scriptReply(await redisClient.run(read, [keys.value], path));
      if (reply.code === code.missing_document) return { outcome: "missing_document" };
      if (reply.code === code.not_found) return { outcome: "not_found" };
      return { outcome: "found", text: withoutBrackets(textOf(reply.rest[0])) };
    },
    async insert({ keys, path, text, maxBytes, maxGrowth, expected, record }) {
      const args = [text, maxBytes, expectedArgument(expected), maxGrowth ?? "", keys.declaredLog, ...path];
      const reply = await insert({ keys: all(keys), args, record: placed(keys, record) });
      if (reply.code === code.created) return { outcome: "created", ...grown(reply, maxGrowth) };
      return repeatedBy(reply) ?? refusal(insertScript.name, reply);
    },
    async put({ keys, path, text, maxBytes, maxGrowth, mayCreate, expected, minMembers = 0 }) {
      const args = [
        text,
        maxBytes,
        mayCreate ? 1 : 0,
        expectedArgument(expected),
        maxGrowth ?? "",
        minMembers,
        keys.declaredLog,
        ...path,
      ];
      const reply = scriptReply(await redisClient.run(put, all(keys), args));
      if (reply.code === code.created) return { outcome: "created", ...grown(reply, maxGrowth) };
      if (reply.code === code.replaced) return { outcome: "replaced", ...grown(reply, maxGrowth) };
      return refusal(put.name, reply);
    },
    async remove({ keys, path, expected }) {
      const args = [expectedArgument(expected), keys.declaredLog, ...path];
      const reply = scriptReply(await redisClient.run(remove, all(keys), args));
      return reply.code === code.done ? { outcome: "removed" } : refusal(remove.name, reply);
    },
    async replaceContainer({ keys, path, text, shrinks, maxBytes, maxGrowth, previous, record }) {
      const args = [previous, text, maxBytes, maxGrowth ?? "", keys.declaredLog, ...path];
      // Leaving a record adds something.
      const reply =
        shrinks && record === undefined
          ? scriptReply(await redisClient.run(shrinkContainer, all(keys), args))
          : await replaceContainer({ keys: all(keys), args, record: placed(keys, record) });
      const repeated = repeatedBy(reply);
      if (repeated) return repeated;
      if (reply.code === code.done) return { outcome: "done", ...grown(reply, maxGrowth) };
      if (reply.code === code.conflict) return { outcome: "conflict" };
      return { outcome: reply.code === code.quota_exceeded ? "quota_exceeded" : "document_too_large" };
    },
  };
}

function grown({ rest }: ScriptReply, maxGrowth: number | undefined): Grown {
  return maxGrowth === undefined ? {} : { growth: numberOf(rest[0]) };
}

function placed(keys: DocumentKeys, record: IdempotencyRecord | undefined): IdempotencyRecord | undefined {
  return record && { ...record, key: keys.record(record.key) };
}

/** As includes/expected-value.lua reads it. */
function expectedArgument(expected: Expected | undefined): string {
  if (expected === undefined) return "";
  if (expected === "nothing") return "-";
  return expected === "never" ? "!" : sha1(expected.text);
}

/** Redis JSON answers a `$` path with a list of what it found: of one value, here. */
export function withoutBrackets(list: string): string {
  return list.slice(1, -1);
}

function refusal(script: string, { code: found, rest }: ScriptReply): DocumentRefusal {
  switch (found) {
    case code.missing_document:
      return { outcome: "missing_document" };
    case code.parent_not_found:
      return { outcome: "parent_not_found" };
    case code.not_a_container:
      return { outcome: "not_a_container" };
    case code.invalid_index:
      return { outcome: "invalid_index" };
    case code.index_out_of_range:
      return { outcome: "index_out_of_range", length: numberOf(rest[0]) };
    case code.index_not_found:
      return { outcome: "index_not_found", length: numberOf(rest[0]) };
    case code.key_exists:
      return { outcome: "key_exists" };
    case code.create_refused:
      return { outcome: "create_refused" };
    case code.document_too_large:
      return { outcome: "document_too_large" };
    case code.quota_exceeded:
      return { outcome: "quota_exceeded" };
    case code.not_found:
      return { outcome: "not_found" };
    case code.conflict:
      return { outcome: "changed" };
    default:
      throw unexpectedCode(script, found);
  }
}

/** Whether a segment could be an array's index. */
export function isIndex(segment: string): boolean {
  return /^(?:0|[1-9][0-9]*)$/.test(segment);
}

/** The one path that the segments can mean, or undefined when one could be a key or an index. */
export function unambiguousPath(path: Path): string | undefined {
  if (path.some(isIndex)) return undefined;
  return `$${path.map((segment) => `["${segment}"]`).join("")}`;
}
