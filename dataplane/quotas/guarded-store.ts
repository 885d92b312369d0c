// A store that writes of a project with a quota go through: sets room aside before each write that adds something, and gives back
// what the write did not use. Whatever writes, it can't be gone round. Refuses with 403 `quota_exceeded`.

import type { ProjectQuota } from "../../core/config/types.ts";
import { OutcomeUnknown } from "../../core/errors/store-errors.ts";
import type { Store } from "../store/port.ts";
import type { SomeFigures } from "./figures.ts";
import type { Held, ProjectUsage } from "./project-usage.ts";

export function guardedStore(store: Store, usage: ProjectUsage, quota: ProjectQuota): Store {
  const freeing = async <T>(removal: Promise<T>): Promise<T> => {
    try {
      return await removal;
    } finally {
      usage.freed();
    }
  };
  return {
    ...store,
    async create(collection, object, maxObjects) {
      const added = { objects: 1 };
      const held = await usage.hold(quota, { sure: added });
      return settled(held, store.create(collection, object, maxObjects), added, ({ outcome }) =>
        outcome === "created" ? added : {},
      );
    },
    remove: (...args) => freeing(store.remove(...args)),
    removeUnchanged: (...args) => freeing(store.removeUnchanged(...args)),
  };
}

/** `most` is what the write added when nobody knows whether it took place; the store says so within seconds. */
async function settled<T>(
  held: Held,
  write: Promise<T>,
  most: SomeFigures,
  added: (result: T) => SomeFigures,
): Promise<T> {
  try {
    const result = await write;
    held.settle(added(result));
    return result;
  } catch (error) {
    held.settle(error instanceof OutcomeUnknown ? most : {});
    throw error;
  }
}
