// What a project holds that nobody serves any more: data that were kept when their object went. Nobody writes to them, so that they are
// asked for when the project's configuration changed, and seldom from then on.

import type { Clock } from "../../core/clock.ts";
import type { LiveProject } from "../config/directory.ts";
import type { FiguresStore } from "../store/port.ts";
import { noFigures } from "./figures.ts";
import { type ReadFigures, readFiguresOf } from "./read-figures.ts";

export type UnservedFigures = (project: LiveProject) => Promise<ReadFigures>;

/** A write that was under way while they were withdrawn may have come after the first look. */
const freshMs = 60_000;
const nothing: ReadFigures = { figures: noFigures, uncounted: [] };

export function createUnservedFigures(
  store: Pick<FiguresStore, "collectionFigures" | "documentFigures">,
  clock: Clock,
): UnservedFigures {
  const known = new WeakMap<LiveProject, { readonly read: ReadFigures; readonly at: number }>();

  return async (project) => {
    const { unserved = [] } = project.config;
    if (unserved.length === 0) return nothing;
    const before = known.get(project);
    if (before !== undefined && clock.monotonic() - before.at < freshMs) return before.read;
    const at = clock.monotonic();
    const read = await readFiguresOf(store, project.config, {
      resources: unserved.filter(({ what }) => what === "resource").map(({ name }) => name),
      rootKeys: unserved.filter(({ what }) => what === "rootkey").map(({ name }) => name),
    });
    // What is being purged is not written to: counting it could outlive it.
    const purged = new Set(unserved.filter(({ isPurged }) => isPurged === true).map(({ name }) => name));
    const uncounted = read.uncounted.filter(({ resource }) => !purged.has(resource));
    const found = { ...read, uncounted };
    if (uncounted.length === 0) known.set(project, { read: found, at });
    return found;
  };
}
