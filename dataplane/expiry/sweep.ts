// Removes expired objects in the background, so that their memory is given back also where nobody
// asks for them: collections are taken one after the other, by one replica at a time, when an
// object of theirs expires, and from time to time. Answers don't depend on it.

import { keyOfProject } from "../../core/config/config-keys.ts";
import { errorName } from "../../core/log/describe-error.ts";
import type { Fields } from "../../core/log/logger.ts";
import { mapLimited } from "../../core/map-limited.ts";
import { pauseUnlessAborted, repeatedly, systemTimers } from "../../core/timers.ts";
import type { Directory, LiveResource } from "../config/directory.ts";
import { betweenLooksMs, type Expiry, isDue, type ObjectExpiry, type TakenCollection } from "../store/ports/expiry.ts";
import { type CollectionRef, collectionOf } from "../store/ports/refs.ts";

export interface SweepDeps {
  readonly store: ObjectExpiry;
  readonly directory: Pick<Directory, "project" | "loaded">;
  /** Declares a resource's indexes to the store, unless this replica has done so. */
  readonly preparer: { prepare(resource: LiveResource, collection: CollectionRef): Promise<void> | undefined };
  /** Called for each round in which something failed, with one of the errors. */
  readonly onFailed: (failure: SweepFailure) => void;
  readonly observe?: (observation: SweepObservation) => void;
}

export interface SweepFailure {
  /** Absent where the round itself failed. */
  readonly collection?: CollectionRef;
  readonly error: unknown;
}

/** What one collection was found to have. */
export interface SweepObservation {
  readonly removed: number;
  /** For how long the object had expired that did so first; 0 = none had. */
  readonly overdueSeconds: number;
}

/** Between two rounds. */
const roundPauseMs = 500;
/** The same after a failure, and where nothing was taken for longer than a look would take. */
const quietPauseMs = 5_000;
const quietMs = 2 * betweenLooksMs;
/** Between two steps in one collection: requests come first. */
const stepPauseMs = 2;
/** What takes longer goes on in a later round, so that other collections have their turn. */
const turnMs = 500;
/** Another replica takes over a collection that is not given back after this time. */
const takenMs = 10_000;
/** Redis may have lost the notes of what expires. */
const betweenNotesMs = 60_000;
const collectionsPerRound = 100;
const atOnce = 8;

/** For a log line. Messages of errors may hold stored data; names do not. */
export function sweepFacts({ collection, error }: SweepFailure): Fields {
  const of = collection && { project: keyOfProject(collection.project), resource: collection.resource };
  return { ...of, error: errorName(error) };
}

/** Goes on until it is stopped. */
export function sweepExpired(deps: SweepDeps): { stop(): Promise<void> } {
  let notedAt = performance.now();
  let tookAt = notedAt;
  return repeatedly(systemTimers, async (signal) => {
    const now = performance.now();
    try {
      if (now - notedAt > betweenNotesMs) {
        notedAt = now;
        await noteLoaded(deps);
      }
      const taken = await round(deps, signal);
      if (taken > 0) tookAt = now;
      // There are more.
      if (taken === collectionsPerRound) return 0;
    } catch (error) {
      deps.onFailed({ error });
      return quietPauseMs;
    }
    return now - tookAt > quietMs ? quietPauseMs : roundPauseMs;
  });
}

/** How many collections this replica took. */
async function round(deps: SweepDeps, signal: AbortSignal): Promise<number> {
  const { store, onFailed } = deps;
  const taken = await store.takeExpiring(collectionsPerRound, takenMs);
  await mapLimited(taken, atOnce, async (each) => {
    if (signal.aborted) return;
    const { collection } = each;
    await sweep(deps, each, signal).catch((error: unknown) => onFailed({ collection, error }));
  });
  return taken.length;
}

async function noteLoaded({ store, directory }: SweepDeps): Promise<void> {
  for (const { config, resources } of directory.loaded()) {
    for (const resource of resources.values()) {
      if (resource.config.expiry !== undefined) await store.noteExpiring(collectionOf(config, resource));
    }
  }
}

async function sweep(deps: SweepDeps, taken: TakenCollection, signal: AbortSignal): Promise<void> {
  const { store, observe } = deps;
  const found = await store.nextExpiry(taken.collection);
  if (found === undefined) return void (await store.takeAgain(taken, undefined));
  // Only what has to be removed wants the configuration, which may have to be loaded.
  const collection = !isDue(found) ? undefined : await liveCollection(deps, taken.collection);
  if (collection === "gone") return void (await store.takeAgain(taken, undefined));
  if (collection === "unavailable") return;
  let left: Expiry = found;
  let removed = 0;
  const end = performance.now() + turnMs;
  while (collection !== undefined && isDue(left) && performance.now() < end && !signal.aborted) {
    const step = await store.removeExpired(collection);
    left = step;
    removed += step.removed;
    // Others remove them as well, or nobody can: the next round looks.
    if (step.removed === 0) break;
    await pauseUnlessAborted(systemTimers, stepPauseMs, signal);
  }
  observe?.({ removed, overdueSeconds: Math.max(0, found.now - (found.next ?? found.now)) / 1_000 });
  const inMs = left.next === undefined ? betweenLooksMs : left.next - left.now;
  await store.takeAgain(taken, Math.max(0, Math.min(betweenLooksMs, inMs)));
}

/** `gone`: nothing of it expires any more. */
async function liveCollection(
  { directory, preparer }: SweepDeps,
  { project, resource: name }: CollectionRef,
): Promise<CollectionRef | "gone" | "unavailable"> {
  const lookup = await directory.project(project);
  if (lookup.outcome === "unavailable") return "unavailable";
  const resource = lookup.outcome === "found" ? lookup.value.resources.get(name) : undefined;
  if (lookup.outcome === "unknown" || resource?.config.expiry === undefined) return "gone";
  const collection = collectionOf(lookup.value.config, resource);
  await preparer.prepare(resource, collection);
  return collection;
}
