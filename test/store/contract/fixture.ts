// What a conformance suite needs of an adapter, and projects that no other test uses, so that files
// may run in parallel on one server.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import type { Clock } from "../../../core/clock.ts";
import type { ProjectRef } from "../../../core/config/types.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { CollectionRef, DocumentRef } from "../../../dataplane/store/ports/refs.ts";

export interface StoreUnderTest {
  readonly store: Store;
  /**
   * Another Store on the same data, as a second replica has; absent where one process owns the
   * data.
   */
  readonly open?: () => Promise<Store>;
  /** The time that the store goes by. */
  readonly clock: Clock;
  /** Moves that time on at once; without it the suite waits. */
  readonly advance?: (milliseconds: number) => void;
  /**
   * The store as seen by a replica whose time of day is off by so much; where one process owns the
   * data, that process' is set.
   */
  readonly offBy: (milliseconds: number) => Promise<Store>;
  /** Closes every store that was opened and removes their data. */
  readonly close: () => Promise<void>;
}

export type MakeStore = () => Promise<StoreUnderTest>;

/** One store for all tests of the calling `describe`. */
export function useStore(make: MakeStore): () => StoreUnderTest {
  let made: StoreUnderTest | undefined;
  beforeAll(async () => {
    made = await make();
  });
  afterAll(async () => {
    await made?.close();
  });
  return () => {
    if (made === undefined) throw new Error("The store is not made yet");
    return made;
  };
}

/** The store, and a second replica's where the adapter has one, else the same again. */
export async function twoReplicas(subject: StoreUnderTest): Promise<readonly [Store, Store]> {
  return [subject.store, subject.open === undefined ? subject.store : await subject.open()];
}

/** Lets `milliseconds` pass for the store. */
export async function pass(subject: StoreUnderTest, milliseconds: number): Promise<void> {
  if (subject.advance !== undefined) subject.advance(milliseconds);
  // Node's timers fire up to a millisecond early.
  else await new Promise((resume) => setTimeout(resume, milliseconds + 1));
}

export function secondsNow(subject: StoreUnderTest): number {
  return Math.floor(subject.clock.now() / 1000);
}

export function freshProject(): ProjectRef {
  return { namespace: `ns-${randomUUID().slice(0, 13)}`, name: "shop" };
}

export function freshCollection(): CollectionRef {
  return { project: freshProject(), resource: "books" };
}

export function freshDocument(): DocumentRef {
  return { project: freshProject(), rootKey: "flags" };
}
