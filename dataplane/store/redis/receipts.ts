// Reads receipts of writes; the writes leave them (remembered-script.ts).

import type { Gateway } from "../../../core/redis/gateway.ts";
import { optionalText } from "../../../core/redis/reply.ts";
import type { ReceiptStore } from "../port.ts";
import { collectionKeys, documentKeys } from "./keys.ts";

export function createReceipts(gateway: Gateway): ReceiptStore {
  return {
    async receipt(of, key) {
      const keys = "resource" in of ? collectionKeys(of) : documentKeys(of);
      const name = keys.receipt(key);
      return optionalText(await gateway.read(name, "GET", name));
    },
  };
}
