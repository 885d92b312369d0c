// Removes expired objects in steps: a script finds some by the index of expiry and reads them, and
// another one removes them with their entries in all indexes. All who need them gone help.

import { randomInt } from "node:crypto";
import type { Expiry, ObjectExpiry } from "../../ports/expiry.ts";
import type { CollectionRef } from "../../ports/refs.ts";
import type { IndexSetCache } from "../indexes/index-scripts.ts";
import { encodedValues, expiryIndexOf } from "../indexes/index-set.ts";
import { collectionKeys } from "../keys.ts";
import { sha1 } from "../objects/objects.ts";
import type { ExpiredObject, ExpiryIndex, ExpiryScripts, RemovedObject } from "./expiry-scripts.ts";

/** Removing so many takes Redis some two milliseconds, with four indexes and owners' entries. */
const objectsPerStep = 50;
/** Callers that wait begin at one of so many places, or replicas would read the same objects. */
const places = 16;

export interface ExpiryDeps {
  readonly scripts: ExpiryScripts;
  readonly indexSetCache: IndexSetCache;
}

export function createExpiry({ scripts, indexSetCache }: ExpiryDeps): ObjectExpiry {
  /** Undefined where there is no index of expiry. */
  function withIndex<T>(collection: CollectionRef, attempt: (of: ExpiryIndex) => Promise<T | "stale">) {
    const keys = collectionKeys(collection);
    return indexSetCache.retryWhileStale(keys, async (set) => {
      const index = expiryIndexOf(set, collection.expiry);
      return index === undefined ? undefined : await attempt({ keys, set, index });
    });
  }

  return {
    async removeExpired(collection, by = "sweep") {
      const step = async (of: ExpiryIndex) => {
        const left = by === "sweep" ? 0 : randomInt(places) * objectsPerStep;
        const found = await scripts.read(of, objectsPerStep, left);
        if (found === "stale") return found;
        const { now, next, objects } = found;
        if (objects.length === 0) return { now, next, removed: 0 };
        const removed = await scripts.remove(
          of,
          objects.map((object) => removedObject(of, object)),
        );
        return removed === "stale" ? removed : { now, next, removed };
      };
      const done = await withIndex(collection, step);
      return done ?? { now: await scripts.time(collectionKeys(collection)), next: undefined, removed: 0 };
    },
    nextExpiry: (collection) => withIndex<Expiry>(collection, (of) => scripts.read(of, 0, 0)),
    noteExpiring: (collection, at) => scripts.note(collectionKeys(collection).tag, at),
    async takeExpiring(max, takenMs) {
      const { names, until } = await scripts.take(max, takenMs);
      return names.map((name) => ({ collection: collectionOfTag(name), until }));
    },
    async takeAgain({ collection, until }, inMs) {
      const again = await scripts.takeAgain(collectionKeys(collection).tag, until, inMs);
      return typeof again === "number" ? { collection, until: again } : undefined;
    },
  };
}

function removedObject({ set, index }: ExpiryIndex, { text, ...object }: ExpiredObject): RemovedObject {
  const others = set.indexes.filter((each) => each !== index);
  const values = text === "" ? [] : encodedValues(others, text);
  const entries = others.map((each, at) => ({ index: each, value: values[at] ?? "" }));
  return { ...object, hash: text === "" ? "" : sha1(text), entries };
}

/** A tag is `<namespace>/<project>/<resource>`, none of which has a slash. */
function collectionOfTag(tag: string): CollectionRef {
  const [namespace = "", name = "", resource = ""] = tag.split("/");
  return { project: { namespace, name }, resource };
}
