// The data records of all projects, as their only writer remembers them, and their text in Redis. A
// project whose record can't be read is refused until a person decides: its purges and namespaces
// must not be guessed.

import { configKeys, keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { listOf, optionalText, textOf, textsOf } from "../../core/redis/reply.ts";
import type { DataRecord } from "../model/data-record.ts";
import { RecordUnreadable } from "./refusals.ts";

/** Records of one HSCAN step, about. */
const recordsPerStep = 1_000;

/** By `<namespace>/<name>`; without those that can't be read, for the others' sake. */
export async function readDataRecords(redisClient: RedisClient): Promise<Map<string, DataRecord>> {
  const records = new Map<string, DataRecord>();
  for await (const page of dataRecordPages(redisClient)) for (const [key, record] of page) records.set(key, record);
  return records;
}

/** The same, some at a time. One that is written meanwhile may come twice. */
export async function* dataRecordPages(redisClient: RedisClient): AsyncIterable<ReadonlyMap<string, DataRecord>> {
  let cursor = "0";
  do {
    const reply = await redisClient.read(configKeys.data, "HSCAN", configKeys.data, cursor, "COUNT", recordsPerStep);
    const [next, pairs] = listOf(reply);
    cursor = textOf(next);
    const texts = textsOf(pairs);
    const page = new Map<string, DataRecord>();
    for (let at = 0; at < texts.length; at += 2) {
      const [key = "", text = ""] = [texts[at], texts[at + 1]];
      const record = parseRecord(text);
      if (record !== undefined) page.set(key, record);
    }
    yield page;
  } while (cursor !== "0");
}

/** Throws RecordUnreadable. */
export async function readDataRecord(redisClient: RedisClient, ref: ProjectRef): Promise<DataRecord | undefined> {
  const field = keyOfProject(ref);
  const text = optionalText(await redisClient.read(configKeys.data, "HGET", configKeys.data, field));
  if (text === undefined) return undefined;
  const record = parseRecord(text);
  if (record !== undefined) return record;
  throw new RecordUnreadable(
    `What Redis holds of this Project's data can't be read (field ${field} of the hash ${configKeys.data}). Restore it from a backup, or remove it with HDEL: the data that are served then count as this namespace's, and purges that waited are given up`,
  );
}

/** The record with its revision where it waits for one. */
export function withPurgeRevision(record: DataRecord | undefined, revision: number): DataRecord | undefined {
  if (record === undefined) return record;
  const dated = <T extends { readonly purgeFromRevision?: number }>(each: T): T =>
    each.purgeFromRevision === 0 ? { ...each, purgeFromRevision: revision } : each;
  const { entries, deletedProjects } = record;
  return {
    ...record,
    entries: entries.map(dated),
    ...(deletedProjects !== undefined && { deletedProjects: deletedProjects.map(dated) }),
  };
}

/** As it stands in Redis; empty = no record. */
export function recordText(record: DataRecord | undefined): string {
  return record === undefined ? "" : JSON.stringify(record);
}

/** Undefined for a text that is not one of `recordText`. */
export function parseRecord(text: string): DataRecord | undefined {
  try {
    const record = JSON.parse(text) as Partial<DataRecord> | null;
    if (!Array.isArray(record?.entries) || typeof record.projectUid !== "string") return undefined;
    return record as DataRecord;
  } catch {
    // The caller says so, without quoting it.
    return undefined;
  }
}
