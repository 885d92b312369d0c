// What a quota counts, sums of it, and what a project's resources and root keys have of it together, as the store keeps it.

import type { QuotaKind } from "../../core/config/quota-uses.ts";
import type { ProjectConfig } from "../../core/config/types.ts";
import type { LiveProject } from "../config/directory.ts";
import type { CollectionRef } from "../store/ports/refs.ts";
import type { CollectionSize, Sizes } from "../store/ports/sizes.ts";

export type Amounts = Readonly<Record<QuotaKind, number>>;
export type PartialAmounts = Readonly<Partial<Amounts>>;

export const noAmounts: Amounts = { objects: 0, bytes: 0, documentKeys: 0 };

/** `amounts` with `times` as much of `change` added. */
export function plus(amounts: Amounts, change: PartialAmounts, times: 1 | -1 = 1): Amounts {
  const { objects = 0, bytes = 0, documentKeys = 0 } = change;
  return {
    objects: amounts.objects + times * objects,
    bytes: amounts.bytes + times * bytes,
    documentKeys: amounts.documentKeys + times * documentKeys,
  };
}

export interface ReadAmounts {
  readonly amounts: Amounts;
  /** Collections of which not all bytes are counted yet; what is counted is in the amounts. */
  readonly uncounted: readonly CollectionRef[];
}

/** Amounts of what is served. */
export function readAmounts(store: Sizes, { config, resources, rootKeys }: LiveProject): Promise<ReadAmounts> {
  const names = { resources: [...resources.keys()], rootKeys: [...rootKeys.keys()], areWritten: true };
  return readAmountsOf(store, config, names);
}

export interface StoredNames {
  readonly resources: readonly string[];
  readonly rootKeys: readonly string[];
  /** False where nobody writes any more: then a collection that holds nothing has nothing to be counted. */
  readonly areWritten: boolean;
}

export async function readAmountsOf(
  store: Sizes,
  config: ProjectConfig,
  { resources, rootKeys, areWritten }: StoredNames,
): Promise<ReadAmounts> {
  const { objects, bytes, documentKeys } = config.limits.quota ?? {};
  const refs = resources.map((resource): CollectionRef => ({ project: config, resource }));
  const asked = objects === undefined && bytes === undefined ? [] : refs;
  const documents = bytes === undefined && documentKeys === undefined ? [] : rootKeys;
  const [collections, values] = await Promise.all([
    Promise.all(asked.map((collection) => store.collectionSize(collection))),
    Promise.all(documents.map((rootKey) => store.documentSize({ project: config, rootKey }))),
  ]);
  const isUncounted = (each: CollectionSize | undefined): boolean =>
    each?.isCounted === false && (areWritten || each.objects > 0);
  return {
    amounts: {
      objects: sum(collections.map((each) => each.objects)),
      bytes: sum([...collections, ...values].map((each) => each.bytes)),
      documentKeys: sum(values.map((each) => each.members)),
    },
    uncounted: bytes === undefined ? [] : asked.filter((_, at) => isUncounted(collections[at])),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
