// Budgets and token buckets that all replicas share. A window opens with the first spending and
// lasts its full length by Redis' own time, so that at most twice the limit can be spent around its
// end. Names are stored as hashes only.
//
// Budgets of one call that concern one project (`<kind>:<project>:…`) share a slot and are spent in
// one step. Budgets of several projects are spent project by project, and refunded when a later one
// is exhausted: never more than a budget has, for a moment less.

import { hash } from "node:crypto";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { numberOf } from "../../../../core/redis/reply.ts";
import type { Budget, Counters, SpendOutcome, TokenBuckets } from "../../ports/limits.ts";
import { bucketKey, counterKey } from "../keys.ts";
import { code, laterStep, scriptReply, storeScript } from "../store-script.ts";

interface Group {
  readonly keys: readonly string[];
  readonly budgets: readonly Budget[];
}

export function createCounters(redisClient: RedisClient): Counters {
  const spendBudgets = storeScript("limits/spend-budgets-n", "write");
  const refundBudgets = storeScript("limits/refund-budgets-n", "write");

  const spend = async ({ keys, budgets }: Group): Promise<SpendOutcome> => {
    const limits = budgets.flatMap(({ limit, windowSeconds }) => [limit, windowSeconds * 1000]);
    const reply = scriptReply(await redisClient.run(spendBudgets, keys, limits));
    if (reply.code === code.done) return { outcome: "spent" };
    return { outcome: "exhausted", retryAfterSeconds: Math.ceil(numberOf(reply.rest[0]) / 1000) };
  };

  const refund = async (groups: readonly Group[]): Promise<void> => {
    for (const [at, { keys }] of groups.entries()) {
      const step = redisClient.run(refundBudgets, keys, []);
      await (at === 0 ? step : laterStep(step));
    }
  };

  return {
    async spend(budgets) {
      const groups = groupsOf(budgets);
      for (const [at, group] of groups.entries()) {
        const result = await (at === 0 ? spend(group) : laterStep(spend(group)));
        if (result.outcome === "exhausted") {
          await laterStep(refund(groups.slice(0, at)));
          return result;
        }
      }
      return { outcome: "spent" };
    },
    refund: (budgets) => refund(groupsOf(budgets)),
  };
}

/** Each bucket is in a slot of its own, and fills by Redis' own time. */
export function createBuckets(redisClient: RedisClient): TokenBuckets {
  const draw = storeScript("limits/draw-tokens-1", "write");
  return {
    async drawTokens({ name, perSecond, burst }, wanted) {
      const args = [perSecond, burst, wanted];
      const [taken, left, waitMs] = scriptReply(
        await redisClient.run(draw, [bucketKey(hash("sha256", name))], args),
      ).rest;
      return { taken: numberOf(taken), left: numberOf(left), waitMs: numberOf(waitMs) };
    },
  };
}

function groupsOf(budgets: readonly Budget[]): readonly Group[] {
  const groups = new Map<string, { keys: string[]; budgets: Budget[] }>();
  for (const budget of budgets) {
    const scope = shortHash(budget.name.split(":")[1] ?? "");
    const group = groups.get(scope) ?? { keys: [], budgets: [] };
    groups.set(scope, group);
    group.keys.push(counterKey(scope, hash("sha256", budget.name)));
    group.budgets.push(budget);
  }
  return [...groups.values()];
}

function shortHash(text: string): string {
  return hash("sha256", text).slice(0, 16);
}
