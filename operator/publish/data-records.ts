// The data records of all projects, as their only writer remembers them, and their text in Redis. A record that can't be read
// is refused loudly: what it said of purges and namespaces must not be guessed.

import { configKeys, projectName } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { listOf, optionalText, textOf, textsOf } from "../../core/redis/reply.ts";
import type { DataRecord } from "../data-record.ts";

/** Records of one HSCAN step, about. */
const recordsPerStep = 1_000;

/** By `<namespace>/<name>`. */
export async function readDataRecords(gateway: Gateway): Promise<Map<string, DataRecord>> {
  const records = new Map<string, DataRecord>();
  let cursor = "0";
  do {
    const reply = await gateway.read(configKeys.data, "HSCAN", configKeys.data, cursor, "COUNT", recordsPerStep);
    const [next, pairs] = listOf(reply);
    cursor = textOf(next);
    const texts = textsOf(pairs);
    for (let at = 0; at < texts.length; at += 2) {
      const [name = "", text = ""] = [texts[at], texts[at + 1]];
      records.set(name, parseRecord(name, text));
    }
  } while (cursor !== "0");
  return records;
}

export async function readDataRecord(gateway: Gateway, ref: ProjectRef): Promise<DataRecord | undefined> {
  const name = projectName(ref);
  const text = optionalText(await gateway.read(configKeys.data, "HGET", configKeys.data, name));
  return text === undefined ? undefined : parseRecord(name, text);
}

/** The record with its revision where it waits for one. */
export function settledRecord(record: DataRecord | undefined, revision: number): DataRecord | undefined {
  if (record === undefined || record.entries.every(({ doomedAt }) => doomedAt !== 0)) return record;
  const entries = record.entries.map((entry) => (entry.doomedAt === 0 ? { ...entry, doomedAt: revision } : entry));
  return { ...record, entries };
}

export function recordText(record: DataRecord | undefined): string {
  return record === undefined ? "" : JSON.stringify(record);
}

function parseRecord(name: string, text: string): DataRecord {
  try {
    return JSON.parse(text) as DataRecord;
  } catch (cause) {
    throw new Error(`The data record of ${name} in Redis can't be read`, { cause });
  }
}

export function recordOf(records: ReadonlyMap<string, DataRecord>, ref: ProjectRef): DataRecord | undefined {
  return records.get(projectName(ref));
}
