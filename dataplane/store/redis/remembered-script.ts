// Makes of a script that writes one that leaves a record in the same step, and finds out when it is a repetition (parts/once.lua).

import { readFileSync } from "node:fs";
import type { Gateway } from "../../../core/redis/gateway.ts";
import { textOf } from "../../../core/redis/reply.ts";
import { type Script, scriptOf } from "../../../core/redis/script.ts";
import type { IdempotencyRecord, Repeated } from "../ports/idempotency.ts";
import { code } from "./codes.ts";
import { type ScriptReply, scriptReply } from "./script-reply.ts";

export interface WriteCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  /** With the name of its key in Redis, in the slot of `keys`. */
  readonly record?: IdempotencyRecord | undefined;
}

/** Runs `script`; one that leaves a record when the call has one. */
export function createWriter(gateway: Gateway, script: Script): (call: WriteCall) => Promise<ScriptReply> {
  const remembered = rememberedScript(script);
  return async ({ keys, args, record }) => {
    if (record === undefined) return scriptReply(await gateway.run(script, keys, args));
    const { key, text, seconds } = record;
    return scriptReply(await gateway.run(remembered, [...keys, key], [...args, text, seconds]));
  };
}

export function repeatedBy({ code: found, rest }: ScriptReply): Repeated | undefined {
  return found === code.repeated ? { outcome: "repeated", record: textOf(rest[0]) } : undefined;
}

function rememberedScript({ name, lua, kind }: Script): Script {
  const once = readFileSync(new URL("./scripts/parts/once.lua", import.meta.url), "utf8");
  const both = once.replace(/^-- the script$/m, () => lua);
  return scriptOf(`${name}, once`, both, kind);
}
