// Declares a resource's indexes to the store before the first request uses its objects, and builds
// new indexes in the background, in small steps, so that requests never wait for them.

import { Backoff } from "../../core/backoff.ts";
import type { BuildingIndexes } from "../../core/config/building-indexes.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ResourceConfig } from "../../core/config/types.ts";
import { describeError } from "../../core/log/describe-error.ts";
import { pauseUnlessAborted, systemTimers } from "../../core/timers.ts";
import { listsOwn } from "../authorize/authorize.ts";
import type { LiveResource } from "../config/directory.ts";
import { uniqueIndex } from "../store/entry-values.ts";
import { noteIfPossible } from "../store/expiring.ts";
import { expiryIndex } from "../store/expiry.ts";
import type { ObjectExpiry } from "../store/ports/expiry.ts";
import type { IndexState, ObjectIndexes, StoreIndex } from "../store/ports/indexes.ts";
import { type CollectionRef, nameOfCollection } from "../store/ports/refs.ts";

export interface CollectionPreparer {
  /** Returns nothing when there is nothing to wait for: every request but a resource's first. */
  prepare(resource: LiveResource, collection: CollectionRef): Promise<void> | undefined;
  /** The store lacks a declared index: the next request declares the indexes again. */
  forget(resource: LiveResource): void;
  /** Indexes being built, by this replica or by another one that it waits for. */
  building(): readonly BuildingIndexes[];
  /** Ends the background work and waits for the step under way. */
  close(): Promise<void>;
}

/** Pause between two steps of a build: requests come first. */
const stepPauseMs = 2;
/** While another replica builds. */
const busyPauseMs = 1_000;
const retries = { firstMs: 1_000, maxMs: 10_000, jitter: 0 };

/** Called when a build fails for the first time, and when it then fails for another reason. */
type OnBuildFailed = (collection: CollectionRef, error: unknown) => void;

function indexesOf({ indexes, unique = [], expiry }: ResourceConfig): readonly StoreIndex[] {
  return [...indexes, ...(expiry === undefined ? [] : [expiryIndex(expiry)]), ...unique.map(uniqueIndex)];
}

export type PreparedStore = Pick<ObjectIndexes, "declareIndexes" | "buildIndexes"> & Pick<ObjectExpiry, "noteExpiring">;

export function createCollectionPreparer(store: PreparedStore, onBuildFailed: OnBuildFailed): CollectionPreparer {
  const prepared = new WeakSet<LiveResource>();
  const underWay = new WeakMap<LiveResource, Promise<void>>();
  const builds = new Map<string, Promise<void>>();
  const building = new Map<string, BuildingIndexes>();
  /** Collections with something declared during a step of the store, which may not include it. */
  const declaredMeanwhile = new Set<string>();
  const stopping = new AbortController();

  const declare = async (resource: LiveResource, collection: CollectionRef): Promise<void> => {
    const { config, revision } = resource;
    const states = await store.declareIndexes(
      collection,
      indexesOf(config),
      revision,
      listsOwn(config) ? "kept" : "left out",
    );
    if (config.expiry !== undefined) await noteIfPossible(store, collection, 0);
    prepared.add(resource);
    const indexes = states.filter(({ state }) => state === "building");
    if (indexes.length > 0) startBuild(collection, indexes);
  };

  const startBuild = ({ project, resource }: CollectionRef, indexes: readonly IndexState[]): void => {
    const name = nameOfCollection({ project, resource });
    const names = indexes.map(({ field }) => field.name);
    building.set(name, { project: keyOfProject(project), resource, indexes: names });
    if (builds.has(name)) declaredMeanwhile.add(name);
    else builds.set(name, build(name, { project, resource }));
  };

  const build = async (name: string, collection: CollectionRef): Promise<void> => {
    let failed: string | undefined;
    const backoff = new Backoff(retries);
    while (!stopping.signal.aborted) {
      declaredMeanwhile.delete(name);
      const step = await store.buildIndexes(collection).catch((error: unknown) => {
        const reason = describeError(error);
        if (reason !== failed) onBuildFailed(collection, error);
        failed = reason;
        return "failed" as const;
      });
      if (step === "done" && !declaredMeanwhile.has(name)) break;
      if (step === "failed") {
        await pauseUnlessAborted(systemTimers, backoff.next(), stopping.signal);
        continue;
      }
      failed = undefined;
      backoff.reset();
      await pauseUnlessAborted(systemTimers, step === "busy" ? busyPauseMs : stepPauseMs, stopping.signal);
    }
    // In the same turn as the last check: a later declaration starts a new build.
    builds.delete(name);
    building.delete(name);
  };

  return {
    prepare(resource, collection) {
      if (prepared.has(resource)) return undefined;
      const known = underWay.get(resource);
      if (known !== undefined) return known;
      const work = declare(resource, collection).finally(() => underWay.delete(resource));
      underWay.set(resource, work);
      return work;
    },
    forget(resource) {
      prepared.delete(resource);
    },
    building: () => [...building.values()],
    async close() {
      stopping.abort();
      await Promise.all(builds.values());
    },
  };
}
