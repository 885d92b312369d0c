// Token buckets that all replicas share, each in a slot of its own; names are kept as hashes only. They fill by Redis' own time.

import { hash } from "node:crypto";
import type { Gateway } from "../../../core/redis/gateway.ts";
import { numberOf } from "../../../core/redis/reply.ts";
import type { TokenBuckets } from "../ports/limits.ts";
import { bucketKey } from "./keys.ts";
import { scriptReply } from "./script-reply.ts";
import { storeScript } from "./store-script.ts";

export function createBuckets(gateway: Gateway): TokenBuckets {
  const draw = storeScript("draw-tokens-1", "write");
  return {
    async drawTokens({ name, perSecond, burst }, wanted) {
      const args = [perSecond, burst, wanted];
      const [taken, left, waitMs] = scriptReply(await gateway.run(draw, [bucketKey(hash("sha256", name))], args)).rest;
      return { taken: numberOf(taken), left: numberOf(left), waitMs: numberOf(waitMs) };
    },
  };
}
