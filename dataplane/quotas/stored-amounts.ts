// What a quota counts, sums of it, and the amounts of a project's resources and root keys as the
// store has them, served or not.

import type { Clock } from "../../core/clock.ts";
import type { QuotaKind } from "../../core/config/quota-uses.ts";
import type { ProjectSettings, UnservedData } from "../../core/config/types.ts";
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

interface ReadAmounts {
  readonly amounts: Amounts;
  /** Collections of which not all bytes are counted yet; what is counted is in the amounts. */
  readonly uncounted: readonly CollectionRef[];
}

/** Amounts of what is served. */
export function readAmounts(store: Sizes, { config, resources, rootKeys }: LiveProject): Promise<ReadAmounts> {
  const names = { resources: [...resources.keys()], rootKeys: [...rootKeys.keys()], areWritten: true };
  return readAmountsOf(store, config, names);
}

interface StoredNames {
  readonly resources: readonly string[];
  readonly rootKeys: readonly string[];
  /** False where nobody writes any more: then an empty collection has nothing to count. */
  readonly areWritten: boolean;
}

async function readAmountsOf(
  store: Sizes,
  config: ProjectSettings,
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

type UnservedAmounts = (project: LiveProject) => Promise<ReadAmounts>;

/** A write under way when they were withdrawn may have come after the first count. */
const freshMs = 60_000;
/** Names that are counted at once: asking for all would delay others. */
const atOnce = 50;

export function createUnservedAmounts(store: Sizes, clock: Clock): UnservedAmounts {
  const known = new WeakMap<LiveProject, { readonly read: ReadAmounts; readonly at: number }>();

  return async (project) => {
    const { unserved = [] } = project.config;
    if (unserved.length === 0) return { amounts: noAmounts, uncounted: [] };
    const before = known.get(project);
    if (before !== undefined && clock.monotonic() - before.at < freshMs) return before.read;
    const at = clock.monotonic();
    let [amounts, uncounted]: [Amounts, readonly CollectionRef[]] = [noAmounts, []];
    for (let from = 0; from < unserved.length; from += atOnce) {
      const read = await readSome(store, project, unserved.slice(from, from + atOnce));
      [amounts, uncounted] = [plus(amounts, read.amounts), [...uncounted, ...read.uncounted].slice(0, atOnce)];
    }
    const found = { amounts, uncounted };
    if (uncounted.length === 0) known.set(project, { read: found, at });
    return found;
  };
}

async function readSome(
  store: Sizes,
  { config }: LiveProject,
  unserved: readonly UnservedData[],
): Promise<ReadAmounts> {
  const read = await readAmountsOf(store, config, {
    resources: unserved.filter(({ what }) => what === "resource").map(({ name }) => name),
    rootKeys: unserved.filter(({ what }) => what === "rootkey").map(({ name }) => name),
    areWritten: false,
  });
  // What is being purged is not written to: counting it could outlive it.
  const purged = new Set(
    unserved.filter(({ what, isPurged }) => what === "resource" && isPurged === true).map(({ name }) => name),
  );
  return { ...read, uncounted: read.uncounted.filter(({ resource }) => !purged.has(resource)) };
}
