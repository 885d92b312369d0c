// How the embedded store groups writes, keeps a defect to itself, reports its calls, and closes.

import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { createTransactions } from "../../dataplane/store/embedded/transactions.ts";
import type { Store, StoreObservation } from "../../dataplane/store/port.ts";
import type { NewObject } from "../../dataplane/store/ports/objects.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { pageByCreation } from "../support/store/page-by-creation.ts";
import { idOf, idsIn, objectOf } from "../support/store/stored-objects.ts";
import { manualClock } from "../support/time/manual-clock.ts";
import { freshCollection, freshDocument, freshProject } from "./contract/fixture.ts";

const plenty = 1_000_000;

/** A fault of a caller, which SQLite finds. */
function defective(n: number): NewObject {
  return { ...objectOf(n, { a: "1" }), owner: null as unknown as string };
}

describe("writes to an embedded store", () => {
  let store: Store;
  let observed: StoreObservation[];

  beforeEach(async () => {
    observed = [];
    const observe = (observation: StoreObservation) => observed.push(observation);
    store = await createEmbeddedStore({ directory: ":memory:", clock: manualClock(), observe });
  });
  afterEach(() => store.close());

  it("can't be seen before they are acknowledged", async () => {
    const collection = freshCollection();
    const created = store.create(collection, objectOf(1, {}), plenty);
    expect(await store.read(collection, idOf(1), {})).toBeUndefined();
    await created;
    expect(await store.read(collection, idOf(1), {})).toEqual({ text: objectOf(1, {}).text });
  });

  it("take place in the order they were sent in", async () => {
    const collection = freshCollection();
    const [first, second] = [objectOf(1, { a: "1" }), objectOf(1, { a: "2" })];
    const answers = [
      store.create(collection, first, plenty),
      store.replace(collection, second, first),
      store.replace(collection, first, first),
      store.remove(collection, idOf(1), {}),
      store.remove(collection, idOf(1), {}),
    ];
    expect(await Promise.all(answers)).toEqual([
      { outcome: "created", text: first.text },
      { outcome: "replaced", text: second.text },
      { outcome: "conflict" },
      true,
      false,
    ]);
  });

  it("are not harmed by a defect in one of their group", async () => {
    const collection = freshCollection();
    await store.declareIndexes(collection, [{ name: "a", path: ["a"] }], 1);
    await store.create(collection, objectOf(50, { a: "1" }), plenty);
    const answers = Array.from({ length: 100 }, (_, n) =>
      store.create(collection, n === 50 ? defective(100) : objectOf(n, { a: "2" }), plenty),
    );
    const settled = await Promise.allSettled(answers);
    const refused = settled.flatMap(({ status }, n) => (status === "rejected" ? [n] : []));
    expect(refused).toEqual([50]);
    // One from before and 99 of the group.
    expect(await store.count(collection, {})).toBe(100);
    await expectIndexesExact(store, collection, ["user:alice"]);
    expect(observed.filter(({ outcome }) => outcome === "error")).toHaveLength(1);
    expect(store.health()).toEqual({ reachable: true });
  });

  it("are refused together, and the next ones take place, when SQLite itself has ended their transaction", async () => {
    const database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE numbers (n INTEGER PRIMARY KEY)");
    const transactions = createTransactions(database, () => undefined);
    const insert = (n: number) => database.prepare("INSERT OR ROLLBACK INTO numbers VALUES (?)").run(n);
    const group = [1, 2, 2, 3].map((n) => transactions.write(() => insert(n)));
    const settled = await Promise.allSettled(group);
    expect(settled.map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
    for (const one of settled) expect(String((one as PromiseRejectedResult).reason)).toContain("UNIQUE constraint");
    await transactions.write(() => insert(4));
    expect(database.prepare("SELECT n FROM numbers").all()).toEqual([{ n: 4 }]);
    await transactions.close();
    database.close();
  });

  it("that are undone leave the pages of their lists true", async () => {
    const collection = freshCollection();
    const create = (n: number) => store.create(collection, objectOf(n, {}), plenty);
    for (let n = 0; n < 20; n += 2) await create(n);
    const pages = async () => {
      const texts: string[] = [];
      for (let offset = 0; offset < 20; offset += 1) {
        const range = { offset, limit: 1, descending: false };
        texts.push(...(await pageByCreation(store, collection, {}, range)).texts);
      }
      return idsIn(texts);
    };
    expect(await pages()).toHaveLength(10);
    const writes = [...[1, 3, 5, 7, 9].map(create), store.create(collection, defective(19), plenty)];
    const settled = await Promise.allSettled(writes);
    expect(settled.map(({ status }) => status).at(-1)).toBe("rejected");
    expect(await pages()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18].map(idOf));
  });

  it("that make a collection together with a defect leave it whole", async () => {
    const [known, made] = [freshCollection(), freshCollection()];
    await store.create(known, objectOf(1, {}), plenty);
    const settled = await Promise.allSettled([
      store.declareIndexes(made, [{ name: "a", path: ["a"] }], 1),
      store.create(made, objectOf(1, { a: "1" }), plenty),
      store.create(known, defective(2), plenty),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(await store.count(made, {})).toBe(1);
    expect(await store.indexes(made)).toEqual([{ field: { name: "a", path: ["a"] }, state: "ready" }]);
    await expectIndexesExact(store, made, ["user:alice"]);
  });

  it("are reported once each, with their time, and reads as well", async () => {
    const document = freshDocument();
    await store.initialise(document, "{}");
    await store.insertAt(document, ["a"], "1", { maxBytes: 100 });
    await store.readAt(document, ["a"]);
    await store.sessions(freshProject(), { limit: 1 });
    expect(observed.map(({ operation, outcome }) => [operation, outcome])).toEqual([
      ["initialise", "ok"],
      ["insertAt", "ok"],
      ["readAt", "ok"],
      ["sessions", "ok"],
    ]);
    for (const { seconds } of observed) expect(seconds).toBeGreaterThanOrEqual(0);
  });

  it("that are under way end before the store closes, and later calls are refused", async () => {
    const collection = freshCollection();
    const answers = Array.from({ length: 2_000 }, (_, n) => store.create(collection, objectOf(n, {}), plenty));
    const closing = store.close();
    await expect(store.create(collection, objectOf(3_000, {}), plenty)).rejects.toThrow(StoreUnavailable);
    await expect(store.read(collection, idOf(1), {})).rejects.toThrow(StoreUnavailable);
    expect(store.health()).toEqual({ reachable: false });
    for (const { outcome } of await Promise.all(answers)) expect(outcome).toBe("created");
    await closing;
    await store.close();
    await expect(store.readAt(freshDocument(), [])).rejects.toThrow(StoreUnavailable);
  });

  it("are waited for by every call of close", async () => {
    const database = new DatabaseSync(":memory:");
    const transactions = createTransactions(database, () => undefined);
    let written = 0;
    const writes = Array.from({ length: 10 }, () => transactions.write(() => (written += 1)));
    await Promise.all([transactions.close(), transactions.close()]);
    expect(written).toBe(10);
    await Promise.all(writes);
    await transactions.close();
    database.close();
  });
});
