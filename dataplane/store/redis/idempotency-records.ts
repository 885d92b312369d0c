// Idempotency records: reads them, and turns a script that writes into one that leaves a record in
// the same step and recognises its repetition (includes/idempotent.lua).

import { readFileSync } from "node:fs";
import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { optionalText, textOf } from "../../../core/redis/reply.ts";
import { type Script, scriptOf } from "../../../core/redis/script.ts";
import type { IdempotencyRecord, IdempotencyRecords, Repeated } from "../ports/idempotency.ts";
import type { CollectionRef, DocumentRef } from "../ports/refs.ts";
import { collectionKeys, documentKeys } from "./keys.ts";
import { code, type ScriptReply, scriptReply } from "./store-script.ts";

export interface WriteCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  /** With the name of its key in Redis, in the slot of `keys`. */
  readonly record?: IdempotencyRecord | undefined;
}

/** Runs `script`; the one that leaves a record when the call has one. */
export function createWriter(redisClient: RedisClient, script: Script): (call: WriteCall) => Promise<ScriptReply> {
  const idempotent = idempotentScript(script);
  return async ({ keys, args, record }) => {
    if (record === undefined) return scriptReply(await redisClient.run(script, keys, args));
    const { key, text, seconds } = record;
    return scriptReply(await redisClient.run(idempotent, [...keys, key], [...args, text, seconds]));
  };
}

export function repeatedBy({ code: found, rest }: ScriptReply): Repeated | undefined {
  return found === code.repeated ? { outcome: "repeated", record: textOf(rest[0]) } : undefined;
}

function idempotentScript({ name, lua, kind }: Script): Script {
  const around = readFileSync(new URL("./includes/idempotent.lua", import.meta.url), "utf8");
  const both = around.replace(/^-- the script$/m, () => lua);
  return scriptOf(`${name}, idempotent`, both, kind);
}

/** The name of a record's key in Redis. */
export function recordNameOf(of: CollectionRef | DocumentRef, key: string): string {
  const keys = "resource" in of ? collectionKeys(of) : documentKeys(of);
  return keys.record(key);
}

export function createIdempotencyRecords(redisClient: RedisClient): IdempotencyRecords {
  return {
    async idempotencyRecord(of, key) {
      const name = recordNameOf(of, key);
      return optionalText(await redisClient.read(name, "GET", name));
    },
  };
}
