// A store's objects and lists, for collections whose objects expire as well: from its time on no
// call finds an object, although it is removed a little later. Lists remove what has expired before
// they read, so that counts and pages are exact.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ExpiryConfig } from "../../core/config/types.ts";
import { isStoreFailure, OutcomeUnknown, WriteConflict, WritesRefused } from "../../core/errors/store-errors.ts";
import { valueAt } from "../../core/json/members.ts";
import { createSemaphore } from "../../core/semaphore.ts";
import { expiryTime, hasExpired } from "./expiry.ts";
import { type Method, wrapMethods } from "./observed-store.ts";
import { betweenLooksMs, type Expiry, isDue, type ObjectExpiry } from "./ports/expiry.ts";
import type { Candidates, ObjectLists, Page } from "./ports/lists.ts";
import type { CreateOutcome, ObjectReads, ObjectWrites } from "./ports/objects.ts";
import { type CollectionRef, nameOfCollection, type Visibility } from "./ports/refs.ts";

export type Objects = ObjectReads & ObjectWrites & ObjectLists;

export interface ExpiringDeps {
  readonly objects: Objects;
  readonly expiry: Pick<ObjectExpiry, "nextExpiry" | "removeExpired" | "noteExpiring">;
  /**
   * The store's time in milliseconds. Who asks for it and then reads, in one turn, is given the
   * time first: a text that was written later may be read, and none that had expired by then.
   */
  time(collection: CollectionRef): Promise<number>;
  /** Milliseconds that only grow. */
  monotonic(): number;
}

/**
 * `removeExpired` is shared by all who want the same objects removed at once, and takes turns:
 * however many collections have something to remove, a request waits in Redis behind few steps.
 */
export function withExpiry(given: ExpiringDeps): Objects & Pick<ObjectExpiry, "removeExpired"> {
  const removeExpired = sharedSteps(given.expiry.removeExpired);
  const deps = { ...given, expiry: { ...given.expiry, removeExpired } };
  const settled = createSettling(deps);
  const expiring = { ...expiringObjects(deps, settled), ...expiringLists(deps, settled) };
  return { ...byCollection(given.objects, expiring), removeExpired };
}

/** What does not expire is sent in the turn of the call, so that writes keep their order. */
function byCollection(plain: Objects, expiring: Objects): Objects {
  const own = plain as unknown as Readonly<Record<string, Method>>;
  return wrapMethods(expiring, (name, method) => {
    const calls: Method = (...args) =>
      ((args[0] as CollectionRef).expiry === undefined ? own[name] : method)?.(...args);
    return calls;
  });
}

/** A collection whose objects expire. */
interface ExpiringRef extends CollectionRef {
  readonly expiry: ExpiryConfig;
}

/** One computes what to remove while Redis removes for the other. */
const stepsAtOnce = 2;

function sharedSteps(removeExpired: ObjectExpiry["removeExpired"]): ObjectExpiry["removeExpired"] {
  const steps = new Map<string, ReturnType<typeof removeExpired>>();
  const refusal = () => new Error("Any number of steps may wait");
  const turns = createSemaphore({ concurrency: stepsAtOnce, maxWaiting: Number.POSITIVE_INFINITY, refusal });
  const step = async (collection: CollectionRef): ReturnType<typeof removeExpired> => {
    await turns.acquire(keyOfProject(collection.project));
    return await removeExpired(collection).finally(turns.release);
  };
  return (collection) => {
    const name = nameOfCollection(collection);
    const underWay = steps.get(name) ?? step(collection).finally(() => steps.delete(name));
    steps.set(name, underWay);
    return underWay;
  };
}

/** What can't be noted is found by a look, which comes within a minute. */
export async function noteIfPossible(
  expiry: Pick<ObjectExpiry, "noteExpiring">,
  collection: CollectionRef,
  at: number,
): Promise<void> {
  try {
    await expiry.noteExpiring(collection, at);
  } catch (error) {
    // In a Cluster another node has the notes.
    if (!isStoreFailure(error)) throw error;
  }
}

/** Milliseconds for which a list removes what has expired: some fifty thousand objects. */
const settlingMs = 5_000;

interface Settled {
  /** The store's time. */
  readonly now: number;
  /** False while something is left: the store refuses writes, or too much has expired. */
  readonly isComplete: boolean;
}

type Settle = (collection: CollectionRef) => Promise<Settled>;

/** Removes what has expired by the time of the call. */
function createSettling({ expiry, time, monotonic }: ExpiringDeps): Settle {
  /** Undefined while there is something to remove. */
  const look = async (collection: CollectionRef): Promise<Settled | undefined> => {
    const found = await expiry.nextExpiry(collection);
    // There is no index while the store takes no declaration.
    if (found === undefined) return { now: await time(collection), isComplete: false };
    return isDue(found) ? undefined : { now: found.now, isComplete: true };
  };
  return async (collection) => {
    const deadline = monotonic() + settlingMs;
    let settled = await look(collection);
    while (settled === undefined && monotonic() < deadline) {
      const step = await removeSome(expiry, collection);
      if (step === "refused") break;
      // A step may have begun before this call.
      if (step === "unknown" || !isDue(step)) settled = await look(collection);
    }
    return settled ?? { now: await time(collection), isComplete: false };
  };
}

/** `refused`: the store refuses writes. `unknown`: the next look shows what a lost answer meant. */
async function removeSome(
  expiry: Pick<ObjectExpiry, "removeExpired">,
  collection: CollectionRef,
): Promise<Expiry | "refused" | "unknown"> {
  try {
    return await expiry.removeExpired(collection);
  } catch (error) {
    if (error instanceof WritesRefused) return "refused";
    if (error instanceof OutcomeUnknown || error instanceof WriteConflict) return "unknown";
    throw error;
  }
}

/** What an object that has expired may be the cause of. */
const mayBeInTheWay: ReadonlySet<CreateOutcome["outcome"]> = new Set(["quota_exceeded", "not_unique", "exists"]);

function expiringObjects({ objects, expiry, time }: ExpiringDeps, settled: Settle): ObjectReads & ObjectWrites {
  /** Whether an object with this text has expired; one that will so soon is noted. */
  async function hasEnded(collection: ExpiringRef, text: string): Promise<boolean> {
    const at = expiryTime(collection.expiry, (path) => valueAt(text, path));
    if (at === undefined) return false;
    const left = at - (await time(collection));
    if (left > 0 && left < betweenLooksMs) await noteIfPossible(expiry, collection, at);
    return left <= 0;
  }

  const read = async (collection: ExpiringRef, id: string, visible: Visibility) => {
    const [now, found] = await Promise.all([time(collection), objects.read(collection, id, visible)]);
    return found === undefined || hasExpired(collection.expiry, found.text, now) ? undefined : found;
  };

  return {
    read,
    async create(collection: ExpiringRef, object, maxObjects) {
      if (await hasEnded(collection, object.text)) return { outcome: "expired" };
      const created = await objects.create(collection, object, maxObjects);
      if (!mayBeInTheWay.has(created.outcome)) return created;
      // What has expired may be in the way.
      await settled(collection);
      return await objects.create(collection, object, maxObjects);
    },
    async replace(collection: ExpiringRef, object, previous) {
      if (await hasEnded(collection, object.text)) {
        // It is gone, unless the update brings it an end.
        return { outcome: (await hasEnded(collection, previous.text)) ? "not_found" : "expired" };
      }
      const replaced = await objects.replace(collection, object, previous);
      if (replaced.outcome !== "not_unique") return replaced;
      await settled(collection);
      return await objects.replace(collection, object, previous);
    },
    async remove(collection: ExpiringRef, id, visible) {
      if ((await read(collection, id, visible)) === undefined) return false;
      return await objects.remove(collection, id, visible);
    },
    async removeUnchanged(collection: ExpiringRef, id, previous) {
      if (await hasEnded(collection, previous.text)) return "not_found";
      return await objects.removeUnchanged(collection, id, previous);
    },
  };
}

/** While something is left that has expired, they answer as while indexes are being built. */
function expiringLists({ objects, time }: ExpiringDeps, settled: Settle): ObjectLists {
  async function page<P extends { readonly outcome: "page" } & Page>(
    collection: ExpiringRef,
    read: () => Promise<P | NotReady>,
  ): Promise<P | NotReady> {
    const { now, isComplete } = await settled(collection);
    const found = isComplete ? await read() : notReady;
    // While the index of expiry is being built, some are left.
    return found.outcome === "not_ready" ? found : { ...found, texts: liveOf(found.texts, collection.expiry, now) };
  }

  async function candidates(collection: CollectionRef, read: () => Promise<Candidates>): Promise<Candidates> {
    const { isComplete } = await settled(collection);
    return isComplete ? await read() : notReady;
  }

  async function* batches(collection: ExpiringRef, read: () => AsyncIterable<readonly string[]>) {
    let now = await time(collection);
    for await (const texts of read()) {
      yield liveOf(texts, collection.expiry, now);
      // Before the next batch is read: a scan may take minutes.
      now = await time(collection);
    }
  }

  return {
    pageByCreation: (collection: ExpiringRef, visible, range) =>
      page(collection, () => objects.pageByCreation(collection, visible, range)),
    pageByField: (collection: ExpiringRef, visible, query, range) =>
      page(collection, () => objects.pageByField(collection, visible, query, range)),
    pageAfter: (collection: ExpiringRef, visible, query, range) =>
      page(collection, () => objects.pageAfter(collection, visible, query, range)),
    candidates: (collection: ExpiringRef, ...args) =>
      candidates(collection, () => objects.candidates(collection, ...args)),
    candidatesByCreation: (collection: ExpiringRef, ...args) =>
      candidates(collection, () => objects.candidatesByCreation(collection, ...args)),
    readObjects: (collection: ExpiringRef, ids) => batches(collection, () => objects.readObjects(collection, ids)),
    async count(collection, visible) {
      await settled(collection);
      return await objects.count(collection, visible);
    },
    scan: (collection: ExpiringRef, visible, range) =>
      batches(collection, () => objects.scan(collection, visible, range)),
  };
}

type NotReady = { readonly outcome: "not_ready" };
const notReady: NotReady = Object.freeze({ outcome: "not_ready" });

function liveOf(texts: readonly string[], expiry: ExpiryConfig, now: number): readonly string[] {
  return texts.filter((text) => !hasExpired(expiry, text, now));
}
