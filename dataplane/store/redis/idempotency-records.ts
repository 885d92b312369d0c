// Reads records of writes; the writes leave them (remembered-script.ts).

import type { Gateway } from "../../../core/redis/gateway.ts";
import { optionalText } from "../../../core/redis/reply.ts";
import type { IdempotencyRecords } from "../ports/idempotency.ts";
import { collectionKeys, documentKeys } from "./keys.ts";

export function createIdempotencyRecords(gateway: Gateway): IdempotencyRecords {
  return {
    async idempotencyRecord(of, key) {
      const keys = "resource" in of ? collectionKeys(of) : documentKeys(of);
      const name = keys.record(key);
      return optionalText(await gateway.read(name, "GET", name));
    },
  };
}
