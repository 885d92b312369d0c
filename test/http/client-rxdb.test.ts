// The replication of RxDB in @jsonplane/client, with the library as npm has it, on two replicas.

import { createRxDatabase } from "rxdb";
import { getRxStorageMemory } from "rxdb/plugins/storage-memory";
import { afterEach, expect, it } from "vitest";
import { createClient, type Problem } from "../../client/index.ts";
import { replicateJsonplane } from "../../client/rxdb.ts";
import { changed, keyOf, project, type ResourceOptions, withKey, withResource } from "../support/http/projects.ts";
import { describeReplicas, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { createNetwork } from "./client-network.ts";

interface Note {
  readonly key: string;
  readonly text: string;
  readonly stars?: number | null;
}

const text = { type: "string", maxLength: 20 } as const;
const stars = { type: ["integer", "null"] } as const;
const properties = { key: text, text, stars, other: { type: "integer" } } as const;
const notes = {
  schema: { type: "object", properties },
  scope: { read: "All", write: "All" },
  changes: { retentionSeconds: 3600, maxEntries: 1_000 },
  unique: [{ fields: [{ name: "key", path: ["key"] }] }],
} as const;
const board = project("board", withKey("app"), withResource("notes", notes));
const schema = {
  ...{ version: 0, primaryKey: "key", type: "object", required: ["key", "text"] },
  // Longer than on the server, so that it has something to refuse.
  properties: { key: text, text: { type: "string" }, stars },
} as const;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

let databases = 0;

/** An app with a database of its own. */
async function opened({ origin, base }: Served) {
  databases += 1;
  const network = createNetwork();
  const client = createClient({ url: origin + base, apiKey: keyOf("app"), fetch: network.fetch, maxRetries: 0 });
  const database = await createRxDatabase({ name: `notes${databases}`, storage: getRxStorageMemory() });
  const { notes: kept } = await database.addCollections<{ notes: import("rxdb").RxCollection<Note> }>({
    notes: { schema },
  });
  const refused: Problem[] = [];
  const start = () =>
    replicateJsonplane({
      ...{ client, resource: "notes", collection: kept, retryTime: 200, waitForLeadership: false },
      onRefused: (problem) => refused.push(problem),
    });
  const replication = start();
  closing.push(async () => {
    await replication.cancel();
    await database.close();
  });
  await replication.awaitInitialReplication();
  const view = async () => {
    const found = await kept.find({ sort: [{ key: "asc" }] }).exec();
    return found.map(({ key, text, stars = 0 }) => `${key}:${text} ${stars}`).join();
  };
  const shows = (expected: string) => eventually(async () => expect(await view()).toBe(expected));
  const change = async (key: string, changes: Partial<Note>) =>
    await (await kept.findOne(key).exec(true)).incrementalPatch(changes);
  const remove = async (key: string) => await (await kept.findOne(key).exec(true)).remove();
  return { client, network, kept, replication, refused, shows, change, remove };
}

describeReplicas("a replication of RxDB", (serveTwice) => {
  it("brings edits to the other side, and what the server refuses is taken back", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    await kim.kept.insert({ key: "a", text: "one" });
    await kim.change("a", { stars: 1 });
    await noa.shows("a:one 1");
    const [stored] = (await noa.client.resource("notes").page()).items;
    await noa.client.resource("notes").update(stored?.id ?? "", { other: 7 });
    await noa.change("a", { text: "two" });
    await kim.shows("a:two 1");
    // Fields that the schema of the documents lacks stay as they are.
    expect((await kim.client.resource("notes").page()).items).toMatchObject([{ key: "a", text: "two", other: 7 }]);
    await kim.change("a", { text: "x".repeat(21) });
    await kim.kept.insert({ key: "b", text: "y".repeat(21) });
    await kim.shows("a:two 1");
    expect(kim.refused.map(({ code }) => code)).toEqual(["validation_failed", "validation_failed"]);
    await kim.change("a", { stars: null });
    await noa.shows("a:two null");
    await kim.remove("a");
    await noa.shows("");
  });

  it("goes on without a network, and both sides have the same afterwards, at another replica", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    for (const key of ["a", "b", "c", "d"]) await noa.kept.insert({ key, text: "old" });
    await kim.shows("a:old 0,b:old 0,c:old 0,d:old 0");
    kim.network.cut();
    await kim.change("a", { text: "kim's" });
    await kim.change("b", { text: "kim's" });
    await kim.remove("c");
    await kim.kept.insert({ key: "e", text: "kim's" });
    await kim.change("e", { stars: 5 });
    await noa.change("b", { text: "noa's" });
    await noa.remove("d");
    await noa.kept.insert({ key: "f", text: "noa's" });
    await eventually(async () =>
      expect((await noa.client.resource("notes").page({ filter: { key: "f" } })).count).toBe(1),
    );
    await one.plane.close();
    kim.network.restore(other.origin);
    // RxDB keeps what is stored where both sides have changed the same.
    const both = "a:kim's 0,b:noa's 0,e:kim's 5,f:noa's 0";
    for (const each of [kim, noa]) await each.shows(both);
    const stored = (await noa.client.resource("notes").page({ sort: "key" })).items;
    expect(stored.map(({ key, text, stars = 0 }) => `${key}:${text} ${stars}`).join()).toBe(both);
  });

  it("writes once what was stored though its answer was lost", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    kim.network.loseNextAnswer();
    await kim.kept.insert({ key: "a", text: "one" });
    await noa.shows("a:one 0");
    kim.network.loseNextAnswer();
    await kim.change("a", { stars: 1 });
    await noa.shows("a:one 1");
    kim.network.loseNextAnswer();
    await kim.remove("a");
    for (const each of [kim, noa]) await each.shows("");
    expect(kim.refused).toEqual([]);
  });

  it("finds what was deleted behind a reset, and keeps what was not sent yet", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    for (const key of ["a", "b"]) await noa.kept.insert({ key, text: "old" });
    await kim.shows("a:old 0,b:old 0");
    kim.network.cut();
    await kim.kept.insert({ key: "c", text: "new" });
    await noa.remove("a");
    await eventually(async () => expect((await noa.client.resource("notes").page()).count).toBe(1));
    kim.network.loseNextPosition();
    kim.network.restore();
    for (const each of [kim, noa]) await each.shows("b:old 0,c:new 0");
  });

  it("reads after a pause what has changed meanwhile: an object renamed, one that has its key now, one gone", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    for (const key of ["a", "b", "c"]) await noa.kept.insert({ key, text: key });
    await kim.shows("a:a 0,b:b 0,c:c 0");
    await kim.replication.pause();
    const stored = noa.client.resource("notes");
    const [a, b] = (await stored.page({ sort: "key" })).items;
    await stored.update(a?.id ?? "", { key: "d" });
    await stored.update(b?.id ?? "", { key: "a" });
    await noa.remove("c");
    await noa.shows("a:b 0,d:a 0");
    await noa.replication.awaitInSync();
    await kim.replication.start();
    await kim.shows("a:b 0,d:a 0");
  });

  it("leaves out objects without the key, and tells when the server can't be reached", async () => {
    const [one, other] = await serveTwice(board);
    const kim = await opened(one);
    for (const fields of [{ text: "no key" }, { key: "a", text: "a" }])
      await kim.client.resource("notes").create(fields);
    await kim.shows("a:a 0");
    const noa = await opened(other);
    await noa.shows("a:a 0");
    const told: unknown[] = [];
    noa.replication.error$.subscribe((error) => told.push(error));
    noa.network.cut();
    await eventually(() => expect(told).not.toEqual([]));
  });

  it("keeps an edit of what the server has added defaults to, before it is told of them", async () => {
    const { properties } = notes.schema;
    const withDefault = { ...properties, stars: { type: "integer", default: 3 } };
    const filled = { ...notes, schema: { type: "object", properties: withDefault }, defaults: "Apply" };
    const [one, other] = await serveTwice(changed(board, withResource("notes", filled as ResourceOptions)));
    const [kim, noa] = [await opened(one), await opened(other)];
    kim.network.cut(`GET ${one.base}/api/notes?_position`);
    await noa.kept.insert({ key: "z", text: "last" });
    await kim.shows("z:last 3");
    await kim.kept.insert({ key: "a", text: "one" });
    await noa.shows("a:one 3,z:last 3");
    await kim.replication.awaitDocumentPushed(await kim.kept.findOne("a").exec(true));
    await kim.change("a", { text: "two" });
    await noa.shows("a:two 3,z:last 3");
  });
});
