// Takes one of several equal shares of a list, as `--shard 2/3` names it; throws WrongArguments for a share that is none.

import { WrongArguments } from "../../tools/script-arguments.ts";

/**
 * One of several equal shares of a list, written as of vitest: `2/3` is the second of three. Neighbours come into different shares, because
 * those of one file need about the same time. Throws WrongArguments for anything else.
 */
export function shardOf<Item>(items: readonly Item[], shard: string): readonly Item[] {
  const [, index = 0, count = 0] = /^(\d{1,3})\/(\d{1,3})$/.exec(shard)?.map(Number) ?? [];
  if (index < 1 || index > count)
    throw new WrongArguments(`--shard is ${shard}: it takes K/N, 1/3 for the first of three`);
  return items.filter((_, at) => at % count === index - 1);
}
