// Objects that the watch or a list reported as gone, until the reconcile of their Project takes
// them: what it says of them, and whose Secrets and data go with them. A deletion that is dropped
// here costs only time: the next reconcile confirms it with the API server, and the sweep deletes
// its Secrets.

import type { CustomResource } from "../model/objects.ts";

export interface SeenDeletions {
  add(key: string, object: CustomResource): void;
  /** They are the caller's until `giveBack`. */
  take(key: string): readonly CustomResource[];
  giveBack(key: string, objects: readonly CustomResource[]): void;
}

/**
 * Objects that are kept at most, a kilobyte each; then those of the Project that has waited longest
 * go.
 */
const maxKept = 10_000;

export function createSeenDeletions(): SeenDeletions {
  const kept = new Map<string, CustomResource[]>();
  let count = 0;

  const keep = (key: string, objects: CustomResource[]): void => {
    kept.set(key, objects);
    for (const [oldest, { length }] of kept) {
      if (count <= maxKept) return;
      kept.delete(oldest);
      count -= length;
    }
  };

  return {
    add(key, object) {
      count += 1;
      const objects = kept.get(key) ?? [];
      objects.push(remainsOf(object));
      keep(key, objects);
    },
    take(key) {
      const objects = kept.get(key) ?? [];
      count -= objects.length;
      kept.delete(key);
      return objects;
    },
    giveBack(key, objects) {
      if (objects.length === 0) return;
      count += objects.length;
      keep(key, [...objects, ...(kept.get(key) ?? [])]);
    },
  };
}

/** Without what it declared: a schema has up to a megabyte, and says nothing of a deletion. */
function remainsOf(object: CustomResource): CustomResource {
  const { apiVersion, metadata } = object;
  if (object.kind === "ApiResource") {
    const { kind, spec } = object;
    return { apiVersion, kind, metadata, spec: { ...spec, schema: {} } };
  }
  if (object.kind === "RootKey") {
    const { kind, spec } = object;
    const { initialValue: _, ...rest } = spec;
    return { apiVersion, kind, metadata, spec: rest };
  }
  return object;
}
