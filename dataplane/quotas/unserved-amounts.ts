// What a project holds that nobody serves any more: data that were kept when their object went. Nobody writes to them, so that they are
// asked for when the project's configuration changed, and seldom from then on.

import type { Clock } from "../../core/clock.ts";
import type { UnservedData } from "../../core/config/types.ts";
import type { LiveProject } from "../config/directory.ts";
import type { CollectionRef } from "../store/ports/refs.ts";
import type { Sizes } from "../store/ports/sizes.ts";
import { type Amounts, noAmounts, plus, type ReadAmounts, readAmountsOf } from "./stored-amounts.ts";

export type UnservedAmounts = (project: LiveProject) => Promise<ReadAmounts>;

/** A write that was under way while they were withdrawn may have come after the first look. */
const freshMs = 60_000;
/**
 * Names that are asked for, and counted, at once. More may have gone than are there, and a replica that asks for all of them keeps others
 * waiting.
 */
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
