// A store's objects and lists, for collections whose objects expire as well: from its time on no
// call finds an object, although it is removed a little later.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ExpiryConfig } from "../../core/config/types.ts";
import { isStoreFailure, OutcomeUnknown, WriteConflict, WritesRefused } from "../../core/errors/store-errors.ts";
import { valueAt } from "../../core/json/members.ts";
import { unboundedSemaphore } from "../../core/semaphore.ts";
import { uniqueQuery, uniqueValueIn } from "./entry-values.ts";
import { expiryTime, hasExpired } from "./expiry.ts";
import { type Method, wrapMethods } from "./observed-store.ts";
import { betweenLooksMs, type ExpiryStep, isDue, type ObjectExpiry, whereInTheWay } from "./ports/expiry.ts";
import type { ObjectLists, Page } from "./ports/lists.ts";
import type { CreateOutcome, NewObject, ObjectReads, ObjectWrites, ReplaceOutcome } from "./ports/objects.ts";
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
  const remove = createRemoval(deps);
  const expiring = { ...expiringObjects(deps, remove), ...expiringLists(deps, remove) };
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
  const turns = unboundedSemaphore(stepsAtOnce);
  const step: typeof removeExpired = async (collection, by) => {
    await turns.acquire(keyOfProject(collection.project));
    return await removeExpired(collection, by).finally(turns.release);
  };
  return (collection, by) => {
    const name = nameOfCollection(collection);
    const underWay = steps.get(name) ?? step(collection, by).finally(() => steps.delete(name));
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

/** Milliseconds for which a call removes what has expired: some fifty thousand objects. */
const removingMs = 5_000;

/**
 * `nothing` had expired when it was called. `left`: the store refuses writes, has no index of what
 * expires, or too much has expired.
 */
type Removal = "nothing" | "removed" | "left";

/** Removes what has expired by the time of the call, or only some of it. */
type Remove = (collection: CollectionRef, amount: "all" | "some") => Promise<Removal>;

function createRemoval({ expiry, monotonic }: ExpiringDeps): Remove {
  /** Whether something is left; undefined without an index. */
  const look = async (collection: CollectionRef): Promise<boolean | undefined> => {
    const found = await expiry.nextExpiry(collection);
    return found && isDue(found);
  };
  const isLeftAfter = async (step: ExpiryStep, collection: CollectionRef, amount: "all" | "some") => {
    if (amount === "some" && step.removed > 0) return false;
    // A step may have begun before this call.
    return isDue(step) || (await look(collection)) === true;
  };
  return async (collection, amount) => {
    const deadline = monotonic() + removingMs;
    let isLeft = await look(collection);
    if (isLeft === false) return "nothing";
    while (isLeft === true && monotonic() < deadline) {
      const step = await removeSome(expiry, collection);
      if (step === "refused") break;
      isLeft = await isLeftAfter(step, collection, amount);
    }
    return isLeft === false ? "removed" : "left";
  };
}

const unknownStep: ExpiryStep = { now: 0, next: undefined, removed: 0 };

/** `refused`: the store refuses writes. */
async function removeSome(
  expiry: Pick<ObjectExpiry, "removeExpired">,
  collection: CollectionRef,
): Promise<ExpiryStep | "refused"> {
  try {
    return await expiry.removeExpired(collection, "others");
  } catch (error) {
    if (error instanceof WritesRefused) return "refused";
    // The next look shows what a lost answer meant.
    if (error instanceof OutcomeUnknown || error instanceof WriteConflict) return unknownStep;
    throw error;
  }
}

/** Each rule may have an object in the way, and another one may come. */
const maxAttempts = 20;

function expiringObjects({ objects, expiry, time }: ExpiringDeps, remove: Remove): ObjectReads & ObjectWrites {
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

  /** Whether one of these has expired, which is removed, or is gone. */
  async function removeEnded(collection: ExpiringRef, ids: readonly string[]): Promise<boolean> {
    let isGone = false;
    for (const id of ids) {
      const [now, found] = await Promise.all([time(collection), objects.read(collection, id, {})]);
      if (found !== undefined && !hasExpired(collection.expiry, found.text, now)) continue;
      if (found !== undefined) await objects.removeUnchanged(collection, id, found);
      isGone = true;
    }
    return isGone;
  }

  /** Removes what has expired and caused this outcome; false where nothing has. */
  async function clearedWay(collection: ExpiringRef, { id, text }: NewObject, tried: Tried): Promise<boolean> {
    if (tried.outcome === "exists") return await removeEnded(collection, [id]);
    if (tried.outcome === "quota_exceeded") return (await remove(collection, "some")) === "removed";
    if (tried.outcome !== "not_unique") return false;
    const { expiry: _, ...everything } = collection;
    const query = uniqueQuery(tried.rule, uniqueValueIn(tried.rule, text) ?? "");
    const found = await objects.candidates(everything, {}, [query], 1);
    if (found.outcome === "found") return await removeEnded(collection, found.ids);
    return (await remove(collection, "all")) === "removed";
  }

  async function write<T extends Tried>(
    collection: ExpiringRef,
    object: NewObject,
    attempt: () => Promise<T>,
  ): Promise<T> {
    for (let attempts = 1; ; attempts += 1) {
      const tried = await attempt();
      if (attempts === maxAttempts || !(await clearedWay(collection, object, tried))) return tried;
    }
  }

  return {
    read,
    async create(collection: ExpiringRef, object, maxObjects) {
      if (await hasEnded(collection, object.text)) return { outcome: "expired" };
      return await write(collection, object, () => objects.create(collection, object, maxObjects));
    },
    async replace(collection: ExpiringRef, object, previous) {
      if (await hasEnded(collection, object.text)) {
        // It is gone, unless the update brings it an end.
        return { outcome: (await hasEnded(collection, previous.text)) ? "not_found" : "expired" };
      }
      return await write(collection, object, () => objects.replace(collection, object, previous));
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

type Tried = CreateOutcome | ReplaceOutcome;

/**
 * The store's lists leave out what has expired. Where one can't, this is removed first; while some
 * is left, they answer as while indexes are being built.
 */
function expiringLists({ objects, time }: ExpiringDeps, remove: Remove): ObjectLists {
  async function live<T extends {}>(collection: CollectionRef, read: () => Promise<T>): Promise<T | NotReady> {
    for (let attempts = 1; attempts <= maxAttempts; attempts += 1) {
      const found = await read().catch(whereInTheWay);
      if (found !== undefined) return found;
      if ((await remove(collection, "all")) === "left") break;
    }
    return notReady;
  }

  async function page<P extends { readonly outcome: "page" } & Page>(
    collection: ExpiringRef,
    read: () => Promise<P | NotReady>,
  ): Promise<P | NotReady> {
    const [now, found] = await Promise.all([time(collection), live(collection, read)]);
    // While the index of expiry is being built, some are left.
    return found.outcome === "not_ready" ? found : { ...found, texts: liveOf(found.texts, collection.expiry, now) };
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
    candidates: (collection: ExpiringRef, ...args) => live(collection, () => objects.candidates(collection, ...args)),
    countValues: (collection: ExpiringRef, ...args) => live(collection, () => objects.countValues(collection, ...args)),
    candidatesByCreation: (collection: ExpiringRef, ...args) =>
      live(collection, () => objects.candidatesByCreation(collection, ...args)),
    readObjects: (collection: ExpiringRef, ids) => batches(collection, () => objects.readObjects(collection, ids)),
    async count(collection, visible) {
      const { expiry: _, ...everything } = collection;
      const found = await live(collection, () => objects.count(collection, visible));
      return typeof found === "number" ? found : await objects.count(everything, visible);
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
