// One Redis JSON document per root key, read and changed in place by one script per request; keys
// that no path can name go through unaddressable-paths.ts. Refuses as the port says.

import type { Clock } from "../../../../core/clock.ts";
import { insertAt, isTooDeep, putAt, readAt, removeAt } from "../../../../core/json/splice.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { unlessChanged } from "../../expected.ts";
import {
  type DocumentRead,
  type DocumentReads,
  type DocumentRefusal,
  type DocumentWrite,
  type DocumentWrites,
  maxDepth,
} from "../../ports/documents.ts";
import type { IdempotencyRecords } from "../../ports/idempotency.ts";
import type { DocumentRef, Path } from "../../ports/refs.ts";
import { type DocumentKeys, documentKeys } from "../keys.ts";
import type { BatchedReads } from "../objects/batched-reads.ts";
import {
  createDocumentScripts,
  type DocumentScripts,
  type MissingDocument,
  unambiguousPath,
  withoutBrackets,
} from "./document-scripts.ts";
import { type AddressableLength, createUnaddressablePaths } from "./unaddressable-paths.ts";

export interface DocumentDeps {
  readonly redisClient: RedisClient;
  readonly records: IdempotencyRecords;
  readonly batchedReads: BatchedReads;
  readonly addressableLength: AddressableLength;
  readonly clock: Clock;
}

export function createDocuments({
  redisClient,
  records,
  batchedReads,
  addressableLength,
  clock,
}: DocumentDeps): DocumentReads & DocumentWrites {
  const scripts = createDocumentScripts(redisClient);
  const unaddressable = createUnaddressablePaths({ scripts, clock, addressableLength });
  const isPlain = (path: Path): boolean => addressableLength(path) === path.length;
  return {
    initialise: (document, text) => scripts.initialise(documentKeys(document), text),
    readAt: (document, path) => read({ batchedReads, scripts, addressableLength }, document, path),
    async insertAt(document, path, text, { maxBytes, maxGrowth, expected, record }) {
      if (isTooDeep(path, text, maxDepth)) return { outcome: "too_deep" };
      const write = { keys: documentKeys(document), path, text, maxBytes, maxGrowth, expected, record };
      if (isPlain(path)) {
        await unaddressable.pendingBatch(write.keys.value);
        return withText(await scripts.insert(write), text);
      }
      const result = await unaddressable.change(write, (container, { below, depth }) =>
        unlessChanged(insertAt(container, below, text, maxDepth - depth), container, below, expected),
      );
      if (result.outcome === "created" || record === undefined) return withText(result, text);
      // A refusal here, rather than by a script, may be the repetition of a write that has just
      // been carried out.
      const before = await records.idempotencyRecord(document, record.key);
      return before === undefined ? withText(result, text) : { outcome: "repeated", record: before };
    },
    async putAt(document, path, text, { maxBytes, maxGrowth, mayCreate, expected, minMembers }) {
      if (isTooDeep(path, text, maxDepth)) return { outcome: "too_deep" };
      const write = { keys: documentKeys(document), path, text, maxBytes, maxGrowth, expected };
      if (isPlain(path)) await unaddressable.pendingBatch(write.keys.value);
      const result = isPlain(path)
        ? await scripts.put({ ...write, mayCreate, minMembers })
        : await unaddressable.change(write, (container, { below, depth }) => {
            const put = putAt(container, below, text, { mayCreate, maxDepth: maxDepth - depth });
            return unlessChanged(put, container, below, expected);
          });
      return result.outcome === "created" || result.outcome === "replaced" ? { ...result, text } : result;
    },
    async removeAt(document, path, { expected } = {}) {
      const keys = documentKeys(document);
      if (isPlain(path)) {
        await unaddressable.pendingBatch(keys.value);
        return scripts.remove({ keys, path, expected });
      }
      const write = { keys, path, maxBytes: Number.MAX_SAFE_INTEGER };
      return unaddressable.change(write, (container, { below }) =>
        unlessChanged(removeAt(container, below), container, below, expected),
      );
    },
  };
}

type Inserted = { readonly outcome: "created"; readonly growth?: number } | DocumentRefusal;

function withText(result: Inserted, text: string): DocumentWrite {
  return result.outcome === "created" ? { ...result, text } : result;
}

interface ReadDeps {
  readonly batchedReads: BatchedReads;
  readonly scripts: DocumentScripts;
  readonly addressableLength: AddressableLength;
}

async function read(deps: ReadDeps, document: DocumentRef, path: Path): Promise<DocumentRead | MissingDocument> {
  const keys = documentKeys(document);
  const named = deps.addressableLength(path);
  const found = await readPlain(deps, keys, path.slice(0, named));
  return found.outcome === "found" && named < path.length ? readAt(found.text, path.slice(named)) : found;
}

async function readPlain(
  { batchedReads, scripts }: Omit<ReadDeps, "addressableLength">,
  keys: DocumentKeys,
  path: Path,
): Promise<DocumentRead | MissingDocument> {
  if (path.length === 0) {
    const text = await batchedReads.read(keys.value);
    return text === undefined ? { outcome: "missing_document" } : { outcome: "found", text };
  }
  const only = unambiguousPath(path);
  if (only === undefined) return scripts.read(keys, path);
  const list = await batchedReads.read(keys.value, only);
  if (list === undefined) return { outcome: "missing_document" };
  return list === "[]" ? { outcome: "not_found" } : { outcome: "found", text: withoutBrackets(list) };
}
