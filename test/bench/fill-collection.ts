// Fills the bench project's books through the store itself, which is some five times as fast as over HTTP, with the very texts that a
// create would store.

import { systemClock } from "../../core/clock.ts";
import { createObjectIds } from "../../dataplane/objects/object-ids.ts";
import type { CollectionRef } from "../../dataplane/store/ports/refs.ts";
import { createRedisStore } from "../../dataplane/store/redis/redis-store.ts";
import { bookText } from "./subjects.ts";

const lanes = 48;

export const books: CollectionRef = { project: { namespace: "default", name: "bench" }, resource: "books" };

export interface Filler {
  /** Adds objects until there are so many. */
  upTo(count: number): Promise<void>;
  close(): Promise<void>;
}

/** The collection's indexes have to be declared by then: ask for a list once. */
export async function openFiller(url: string): Promise<Filler> {
  const store = await createRedisStore({ url, clock: systemClock });
  const newId = createObjectIds(systemClock);
  let next = 0;
  const add = async (): Promise<void> => {
    const { id, createdMs } = newId();
    const metadata = { created: Math.floor(createdMs / 1000), creator: "admin", creator_type: "apikey" };
    const text = `{"id":"${id}",${bookText(next).slice(1, -1)},"_metadata":${JSON.stringify(metadata)}}`;
    next += 1;
    await store.create(books, { id, owner: "apikey:admin", text }, Number.MAX_SAFE_INTEGER);
  };
  return {
    async upTo(count) {
      // Others may have created some since.
      next = await store.count(books, {});
      const lane = async (): Promise<void> => {
        while (next < count) await add();
      };
      await Promise.all(Array.from({ length: lanes }, lane));
    },
    close: () => store.close(),
  };
}
