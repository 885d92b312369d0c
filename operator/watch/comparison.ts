// What a list of names and versions says of a cache: which objects are not kept as the server has them. What a watch delivers
// meanwhile counts, so that only what stays behind is behind. Compares the objects' own versions, because a list's version is
// that of the whole store and moves with every write to anything.

import type { KubeObject } from "../kube/api.ts";
import { isSame, keyOf, versionOf } from "./object-cache.ts";
import type { Watched } from "./watched.ts";

export interface Comparison {
  /** The list begins anew: what it said before is void. */
  begin(): void;
  page(items: readonly KubeObject[]): void;
  /** An object is not kept any more: that the list still has it, if it does, is the past. */
  removed(object: KubeObject): void;
  /** How many objects are kept otherwise than the server had them when the list was made. */
  behind(listVersion: string): number;
}

export function createComparison(kept: Pick<Watched, "get" | "all">): Comparison {
  const listed = new Set<string>();
  let otherwise: KubeObject[] = [];
  const ended = new Set<string>();

  const isBehind = (item: KubeObject): boolean => {
    const present = kept.get(item.metadata.namespace ?? "", item.metadata.name);
    if (present === undefined) return !ended.has(item.metadata.uid);
    return !isSame(present, item) && !(versionOf(present) > versionOf(item));
  };
  const isGone = (object: KubeObject, listVersion: string): boolean =>
    !listed.has(keyOf(object)) && !(versionOf(object) > Number(listVersion));

  return {
    begin() {
      listed.clear();
      otherwise = [];
    },
    page(items) {
      for (const item of items) listed.add(keyOf(item));
      otherwise.push(...items.filter(isBehind).map(({ metadata }) => ({ metadata })));
    },
    removed: ({ metadata }) => void ended.add(metadata.uid),
    behind(listVersion) {
      otherwise = otherwise.filter(isBehind);
      let count = otherwise.length;
      for (const object of kept.all()) if (isGone(object, listVersion)) count += 1;
      return count;
    },
  };
}
