// The promises of ChangeLogs: each way of writing leaves one entry if it changed something, and a
// position is good only as long as nothing behind it is missing.

import { describe, expect, it } from "vitest";
import { purgeCollection, purgeDocument } from "../../../dataplane/config/purge-steps.ts";
import { loggedBytes } from "../../../dataplane/store/change-entries.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { LoggedRef, LogPosition } from "../../../dataplane/store/ports/changes.ts";
import type { CollectionRef, DocumentRef } from "../../../dataplane/store/ports/refs.ts";
import { idOf, objectOf } from "../../support/store/stored-objects.ts";
import { eventually } from "../../support/time/eventually.ts";
import { describeLoggedWrites } from "./changes-of-writes.ts";
import { type MakeStore, pass, type StoreUnderTest, twoReplicas, useStore } from "./fixture.ts";
import { entriesAfter, loggedCollection, loggedDocument, unlogged } from "./logged-refs.ts";

type Subject = () => StoreUnderTest;

export function describeChangeLogs(name: string, make: MakeStore): void {
  describe(`${name}: logs of changes`, () => {
    const subject = useStore(make);
    describeLoggedWrites(subject);
    describePositions(subject);
    describeTrimming(subject);
    describeDeletions(subject);
    describeCallbacks(subject);
    describeSizes(subject);
  });
}

const roomy = { maxBytes: 1_000_000 };
const create = (store: Store, collection: CollectionRef, n: number) =>
  store.create(collection, objectOf(n, {}), 10_000);
const put = (store: Store, document: DocumentRef, text: string) =>
  store.putAt(document, ["a"], text, { ...roomy, mayCreate: true });

/** One write of what has the log. */
async function write(store: Store, of: LoggedRef, n: number): Promise<void> {
  if ("resource" in of) await create(store, of, n);
  else await put(store, of, `${n}`);
}

async function writeTimes(store: Store, of: LoggedRef, times: number): Promise<void> {
  await Promise.all(Array.from({ length: times }, (_, n) => write(store, of, n + 1)));
}

async function outcomeAt(store: Store, of: LoggedRef, position: LogPosition): Promise<string> {
  return (await store.changesAfter(of, position, 10)).outcome;
}

const both = [
  ["a collection", async (_: Store, changes?: object) => ({ ...loggedCollection(), ...changes })],
  [
    "a document",
    async (store: Store, changes?: object) => {
      const document = { ...loggedDocument(), ...changes };
      await store.initialise(document, "{}");
      return document;
    },
  ],
] as const;

function describePositions(subject: Subject): void {
  it.each(both)("of %s are read in order, in parts, and by any replica", async (_, make) => {
    const [one, two] = await twoReplicas(subject());
    const of = await make(one);
    const begin = await one.newestChange(of);
    expect(await two.newestChange(of)).toBe(begin);
    for (const n of [1, 2, 3]) await write(n === 2 ? two : one, of, n);
    const all = await two.changesAfter(of, begin, 10);
    if (all.outcome !== "changes") throw new Error(all.outcome);
    expect(all.changes.map(({ id }) => id)).toEqual("resource" in of ? [1, 2, 3].map(idOf) : ["", "", ""]);
    expect(all.changes.at(-1)?.position).toBe(await one.newestChange(of));
    expect(await one.changesAfter(of, begin, 2)).toEqual({ outcome: "changes", changes: all.changes.slice(0, 2) });
    const second = all.changes[1]?.position ?? "";
    expect(await one.changesAfter(of, second, 2)).toEqual({ outcome: "changes", changes: all.changes.slice(2) });
    expect(await one.changesAfter(of, await one.newestChange(of), 2)).toEqual({ outcome: "changes", changes: [] });
  });

  it.each(both)("of %s begin a log, with an entry that is no change, and only once", async (_, make) => {
    const [one, two] = await twoReplicas(subject());
    const of = await make(one);
    const begun = await Promise.all([one, two, one, two].map((store) => store.newestChange(of)));
    expect(new Set(begun).size).toBe(1);
    expect(await one.changesAfter(of, begun[0] ?? "", 10)).toEqual({ outcome: "changes", changes: [] });
  });

  it.each(both)("of %s that no log had are lost", async (_, make) => {
    const { store } = subject();
    const of = await make(store);
    for (const position of ["1-1.00000000", "x"]) expect(await outcomeAt(store, of, position)).toBe("lost");
    const newest = await store.newestChange(of);
    const [id = "", checksum = ""] = newest.split(".");
    const other = checksum.startsWith("0") ? `1${checksum.slice(1)}` : `0${checksum.slice(1)}`;
    const [first, second] = id.split("-").map(Number);
    const never = ["", "x", "-", "+", `${id}`, `${newest}0`, `${"9".repeat(30)}-0.${checksum}`, `${id}-1.${checksum}`];
    const unmet = [`${id}.${other}`, `${first}-${(second ?? 0) + 1}.${checksum}`, `999999999999999-0.${checksum}`];
    for (const position of [...never, ...unmet]) {
      expect([position, await outcomeAt(store, of, position)]).toEqual([position, "lost"]);
    }
    expect(await outcomeAt(store, of, newest)).toBe("changes");
  });
}

function describeTrimming(subject: Subject): void {
  it.each(both)("of %s keep at most so many entries or a few more, and the newest always", async (_, make) => {
    const { store } = subject();
    const of = await make(store, { changes: { retentionSeconds: 3_600, maxEntries: 1 } });
    const begin = await store.newestChange(of);
    await writeTimes(store, of, 400);
    expect(await outcomeAt(store, of, begin)).toBe("expired");
    const newest = await store.newestChange(of);
    expect(await store.changesAfter(of, newest, 10)).toEqual({ outcome: "changes", changes: [] });
  });

  it.each(both)("of %s keep entries for so long at least, and the newest always", async (_, make) => {
    const { store } = subject();
    const of = await make(store, { changes: { retentionSeconds: 0.5, maxEntries: 100_000 } });
    const begin = await store.newestChange(of);
    await writeTimes(store, of, 400);
    await pass(subject(), 501);
    const last = await store.newestChange(of);
    expect(await outcomeAt(store, of, last)).toBe("changes");
    await write(store, of, 500);
    expect(await outcomeAt(store, of, begin)).toBe("expired");
    // Those who follow a quiet log are at it.
    expect(await outcomeAt(store, of, last)).toBe("changes");
    const newest = await store.newestChange(of);
    expect(newest).not.toBe(last);
    expect(await store.changesAfter(of, newest, 10)).toEqual({ outcome: "changes", changes: [] });
  });
}

function describeDeletions(subject: Subject): void {
  it.each(both)("of %s are deleted by a write that declares none, and positions are lost", async (_, make) => {
    const [one, two] = await twoReplicas(subject());
    const of = await make(one);
    const before = await one.newestChange(of);
    await write(one, of, 1);
    await write(two, unlogged(of), 2);
    expect(await outcomeAt(one, of, before)).toBe("lost");
    await write(one, of, 3);
    expect(await outcomeAt(one, of, before)).toBe("lost");
    const again = await one.newestChange(of);
    expect(again).not.toBe(before);
    expect(await outcomeAt(one, of, before)).not.toBe("changes");
    await write(two, of, 4);
    expect(await entriesAfter(two, of, again)).toHaveLength(1);
  });

  it("of a collection are deleted by a purge", async () => {
    const { store } = subject();
    const collection = loggedCollection();
    await create(store, collection, 1);
    const before = await store.newestChange(collection);
    await purgeCollection(store, collection);
    expect(await outcomeAt(store, collection, before)).toBe("lost");
    await create(store, collection, 2);
    await store.newestChange(collection);
    expect(await outcomeAt(store, collection, before)).not.toBe("changes");
  });

  it("of a collection don't outlast objects that a purge under way removed", async () => {
    const { store } = subject();
    const collection = loggedCollection();
    for (const n of [1, 2, 3]) await create(store, collection, n);
    const before = await store.newestChange(collection);
    expect(await store.purge(collection, (await store.collectionIdentity(collection)) ?? "", 1)).toBe("more");
    expect(await outcomeAt(store, collection, before)).toBe("lost");
  });

  it("of a document are deleted by a purge", async () => {
    const { store } = subject();
    const document = loggedDocument();
    await store.initialise(document, "{}");
    const before = await store.newestChange(document);
    await purgeDocument(store, document);
    expect(await outcomeAt(store, document, before)).toBe("lost");
    await store.initialise(document, "{}");
    await store.newestChange(document);
    expect(await outcomeAt(store, document, before)).not.toBe("changes");
  });
}

function describeCallbacks(subject: Subject): void {
  it.each(both)("of %s call back after changes of any replica, until they are ended", async (_, make) => {
    const [one, two] = await twoReplicas(subject());
    const of = await make(one);
    await one.newestChange(of);
    const called = { first: 0, second: 0 };
    const end = two.onChanges(of, () => (called.first += 1));
    const endSecond = two.onChanges(of, () => (called.second += 1));
    await write(one, of, 1);
    await eventually(() => expect(Math.min(called.first, called.second)).toBeGreaterThan(0));
    const before = called.first;
    await write(one, of, 2);
    await eventually(() => expect(called.first).toBeGreaterThan(before));
    end();
    const ended = { ...called };
    await write(one, of, 3);
    await eventually(() => expect(called.second).toBeGreaterThan(ended.second));
    expect(called.first).toBe(ended.first);
    await write(one, unlogged(of), 4);
    await eventually(() => expect(called.second).toBeGreaterThan(ended.second + 1));
    endSecond();
  });
}

function describeSizes(subject: Subject): void {
  it("of a collection count in its size, and not without one", async () => {
    const { store } = subject();
    const collection = loggedCollection();
    while ((await store.countBytes(collection)) === "more");
    await create(store, unlogged(collection), 1);
    const { bytes } = await store.collectionSize(collection);
    expect(bytes).toBe(Buffer.byteLength(objectOf(1, {}).text));
    await store.newestChange(collection);
    await create(store, collection, 2);
    expect((await store.collectionSize(collection)).bytes).toBe(2 * bytes + 2 * loggedBytes.object);
  });

  it("of a document count in its size, and not without one", async () => {
    const { store } = subject();
    const document = loggedDocument();
    await store.initialise(document, "{}");
    expect(await store.documentSize(document)).toEqual({ bytes: 2, members: 0 });
    await store.newestChange(document);
    expect(await store.documentSize(document)).toEqual({ bytes: 2 + loggedBytes.document, members: 0 });
    await put(store, document, "1");
    expect(await store.documentSize(document)).toEqual({ bytes: 7 + 2 * loggedBytes.document, members: 1 });
    await put(store, unlogged(document), "2");
    expect(await store.documentSize(document)).toEqual({ bytes: 7, members: 1 });
  });
}
