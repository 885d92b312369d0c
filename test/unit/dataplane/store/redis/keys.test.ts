// Names of keys: one slot per collection and per document, and no name that could leave its slot.

import { describe, expect, it } from "vitest";
import { CommandBatcher, TrackedCommand } from "../../../../../core/redis/command.ts";
import { collectionKeys, documentKeys, sessionKeys } from "../../../../../dataplane/store/redis/keys.ts";

const project = { namespace: "ns", name: "shop" };

/** As ioredis finds it, by which commands are sent. */
function slotOf(key: string): number {
  return new TrackedCommand({ name: "get", args: [key], keys: [key] }, new CommandBatcher()).getSlot();
}

describe("keys", () => {
  it("of one collection, document or project share a slot, whatever owners and ids are called", () => {
    const collection = collectionKeys({ project, resource: "books" });
    const owned = ["user:a}b{c}", "user:{}", "user:é "].map(collection.owned);
    const ofCollection = [
      ...owned,
      collection.ids,
      collection.log,
      collection.indexSet,
      collection.buildLock,
      collection.objectKey("}{"),
      collection.index(1),
      collection.ownIndex(2),
    ];
    expect(new Set(ofCollection).size).toBe(ofCollection.length);
    expect(new Set(ofCollection.map((key) => slotOf(key))).size).toBe(1);
    const document = documentKeys({ project, rootKey: "flags" });
    const ofDocument = [document.value, document.size, document.log];
    expect(new Set(ofDocument.map((key) => slotOf(key))).size).toBe(1);
    const sessions = sessionKeys(project);
    const ofProject = [sessions.byCreation, sessions.byUser, sessions.byExpiry, sessions.session("}{")];
    expect(new Set(ofProject.map((key) => slotOf(key))).size).toBe(1);
  });

  it("of a resource and of a root key of one name are apart", () => {
    const resource = collectionKeys({ project, resource: "json" });
    const rootKey = documentKeys({ project, rootKey: "json" });
    expect(resource.objectKey("value")).not.toBe(rootKey.value);
    expect(resource.tag).not.toContain("/json/");
  });

  it("are refused for names that could end a tag or run into their neighbour", () => {
    for (const name of ["", "a}b", "{a", "a/b", "a b", "a\0b", "é", "a".repeat(254)]) {
      expect(() => collectionKeys({ project, resource: name })).toThrow(RangeError);
      expect(() => collectionKeys({ project: { ...project, namespace: name }, resource: "r" })).toThrow(RangeError);
      expect(() => documentKeys({ project: { ...project, name }, rootKey: "r" })).toThrow(RangeError);
      expect(() => documentKeys({ project, rootKey: name })).toThrow(RangeError);
    }
  });
});
