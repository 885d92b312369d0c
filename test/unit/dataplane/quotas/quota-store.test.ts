// Which calls of a store pass the guard of a quota: every write that the port has, or gets, and
// nothing of the store is lost.

import { expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import type { ProjectUsage } from "../../../../dataplane/quotas/project-usage.ts";
import { quotaStore } from "../../../../dataplane/quotas/quota-store.ts";
import { createEmbeddedStore } from "../../../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../../../dataplane/store/port.ts";
import type { DocumentWrites } from "../../../../dataplane/store/ports/documents.ts";
import type { ObjectWrites } from "../../../../dataplane/store/ports/objects.ts";

type Writes = ObjectWrites & DocumentWrites;

const project = { namespace: "default", name: "shop" };
const [books, flags] = [
  { project, resource: "books" },
  { project, rootKey: "flags" },
];
const object = { id: "1", owner: "user:ann", text: '{"id":"1"}' };
const quota = { objects: 10, bytes: 1_000, documentKeys: 10 };

/** One call of each; the compiler wants all of them. */
const calls: { readonly [Name in keyof Writes]: (store: Writes) => Promise<unknown> } = {
  initialise: (store) => store.initialise(flags, "{}"),
  insertAt: (store) => store.insertAt(flags, ["a"], "1", { maxBytes: 100 }),
  putAt: (store) => store.putAt(flags, ["a"], "2", { maxBytes: 100, mayCreate: true }),
  removeAt: (store) => store.removeAt(flags, ["a"]),
  create: (store) => store.create(books, object, 10),
  replace: (store) => store.replace(books, { ...object, text: '{"id":"1","a":1}' }, object),
  removeUnchanged: (store) => store.removeUnchanged(books, "1", { text: '{"id":"1","a":1}' }),
  remove: (store) => store.remove(books, "1", {}),
};

/** Has room for everything, and notes what it got. */
function usageThatNotes(): { readonly usage: ProjectUsage; readonly noted: string[] } {
  const noted: string[] = [];
  const usage: ProjectUsage = {
    async reserve(_quota, { required = {}, upTo = {} }) {
      noted.push("hold");
      return { granted: { ...required, ...upTo }, commit: () => noted.push("settle") };
    },
    added: () => noted.push("added"),
    freed: () => noted.push("freed"),
    refreshAfter: async () => undefined,
    forget: () => undefined,
    amounts: () => undefined,
    refusal: () => {
      throw new Error("There is room");
    },
  };
  return { usage, noted };
}

it("every write goes through the quota once", async () => {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const seen: Record<string, readonly string[]> = {};
  for (const [name, call] of Object.entries(calls)) {
    const { usage, noted } = usageThatNotes();
    await call(quotaStore(store, usage, quota));
    seen[name] = noted;
  }
  const room = ["hold", "settle"];
  expect(seen).toEqual({
    initialise: ["added"],
    insertAt: room,
    putAt: room,
    removeAt: ["freed"],
    create: room,
    replace: room,
    removeUnchanged: ["freed"],
    remove: ["freed"],
  });
  await store.close();
});

it("every other call reaches the store as it is, also one that the store inherits", async () => {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const names = Object.keys(store);
  await store.close();
  class Inherited {
    readonly answer = "the store's";
  }
  for (const name of names) {
    const value = function (this: Inherited, ...args: readonly unknown[]) {
      return [name, this.answer, ...args];
    };
    Object.defineProperty(Inherited.prototype, name, { value });
  }
  const { usage, noted } = usageThatNotes();
  const guarded = quotaStore(new Inherited() as unknown as Store, usage, quota) as unknown as Record<
    string,
    (...args: readonly unknown[]) => unknown
  >;
  expect(Object.keys(guarded).toSorted()).toEqual(names.toSorted());
  for (const name of names.filter((each) => !(each in calls))) {
    expect(guarded[name]?.("first", 2)).toEqual([name, "the store's", "first", 2]);
  }
  expect(noted).toEqual([]);
});
