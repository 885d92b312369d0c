// What the embedded store says when its data folder can't be used, and what it does when the file
// or the disk fails under it.

import { execFile } from "node:child_process";
import { chmod, cp, mkdtemp, open, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { StoreUnavailable, WritesRefused } from "../../core/errors/store-errors.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { DataFolderUnusable } from "../../dataplane/store/embedded/open-database.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { CollectionRef } from "../../dataplane/store/ports/refs.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { fillCollection, idOf, objectOf } from "../support/store/stored-objects.ts";
import { freshCollection, freshDocument, freshProject } from "./contract/fixture.ts";
import { entriesAfter, loggedCollection } from "./contract/logged-refs.ts";

const probe = fileURLToPath(new URL("./embedded-probe.ts", import.meta.url));
const run = promisify(execFile);
const plenty = 1_000_000;
const all = { offset: 0, limit: 1_000, descending: false };
const probedCollection = { project: { namespace: "probe", name: "shop" }, resource: "books" };

describe("the data folder of an embedded store", () => {
  let folder = "";
  const opened: Store[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "jsonplane-folder-"));
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function openStore(directory = folder): Promise<Store> {
    const store = await createEmbeddedStore({ directory, clock: systemClock });
    opened.push(store);
    return store;
  }

  const file = () => join(folder, "jsonplane.db");

  it("is made when it is missing, readable to its owner only", async () => {
    const directory = join(folder, "a", "b");
    await openStore(directory);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, "jsonplane.db"))).mode & 0o777).toBe(0o600);
  });

  it("keeps everything over a restart, and nothing of dropped indexes", async () => {
    const first = await openStore();
    const collection = freshCollection();
    const document = freshDocument();
    const [a, b] = [
      { name: "a", path: ["a"] },
      { name: "b", path: ["b"] },
    ];
    await first.declareIndexes(collection, [a, b], 1);
    await fillCollection(first, collection, 1_200, (n) => objectOf(n, { a: String(n % 7), b: "1" }));
    await first.initialise(document, '{"k":1.0}');
    await first.declareIndexes(collection, [a], 2);
    await first.close();
    const second = await openStore();
    expect(await second.indexes(collection)).toEqual([{ field: a, state: "ready" }]);
    expect(await second.readAt(document, ["k"])).toEqual({ outcome: "found", text: "1.0" });
    await expectIndexesExact(second, collection, ["user:alice"]);
    await second.close();
    expect(rowsIn(file(), "SELECT COUNT(DISTINCT ordering) AS n FROM entries")).toBe(2);
  });

  it("goes on building an index where the process before stopped", async () => {
    const first = await openStore();
    const collection = freshCollection();
    await fillCollection(first, collection, 500, (n) => objectOf(n, { a: String(-n) }));
    await first.declareIndexes(collection, [{ name: "a", path: ["a"] }], 1);
    expect(await first.buildIndexes(collection)).toBe("more");
    await first.close();
    const second = await openStore();
    expect(await second.pageByField(collection, {}, { index: "a" }, all)).toEqual({ outcome: "not_ready" });
    while ((await second.buildIndexes(collection)) === "more");
    await expectIndexesExact(second, collection, ["user:alice"]);
  });

  it("remembers an ended session over a restart", async () => {
    const first = await openStore();
    const project = freshProject();
    const now = Math.floor(Date.now() / 1_000);
    const session = {
      id: "s1",
      projectUid: "p",
      username: "alice",
      credentialRevision: "1",
      created: now,
      lastRefresh: now,
      expires: now + 600,
    };
    await first.putSession(project, session, { maxPerUser: 100, maxPerProject: 1_000 });
    await first.endSession(project, "s1", 300);
    await first.close();
    const ended: unknown[] = [];
    const following = await (await openStore()).followEndedSessions((id, tokenLifetimeSeconds) =>
      ended.push([id, tokenLifetimeSeconds > 290 && tokenLifetimeSeconds <= 300]),
    );
    expect(ended).toEqual([["s1", true]]);
    await following.stop();
  });

  it("belongs to one store at a time, in this process and in others", async () => {
    const store = await openStore();
    const refusal = `${file()} is in use by another process: stop that process or choose another data folder`;
    await expect(openStore()).rejects.toThrow(new DataFolderUnusable(refusal));
    expect(await probed("open", folder)).toEqual({ refused: `DataFolderUnusable: ${refusal}` });
    await store.close();
    expect(await probed("open", folder)).toEqual({ opened: true });
  });

  it("is refused when it is a file, or lies below one", async () => {
    const path = join(folder, "plain");
    await writeFile(path, "text");
    await expect(openStore(path)).rejects.toThrow(/^The data folder .*plain can't be used: EEXIST/);
    await expect(openStore(join(path, "below"))).rejects.toThrow(/^The data folder .*below can't be used: ENOTDIR/);
  });

  it("is refused when it can't be written to", async () => {
    await chmod(folder, 0o555);
    const { refused } = (await probed(process.getuid?.() === 0 ? "open-as-nobody" : "open", folder)) as {
      refused: string;
    };
    await chmod(folder, 0o755);
    expect(refused).toMatch(/^DataFolderUnusable: The data folder .* can't be used: EACCES/);
  });

  it("is refused when its database is damaged, foreign, or of a newer version", async () => {
    await writeFile(file(), "This is no database at all, though it is long enough to be one.".repeat(100));
    await expect(openStore()).rejects.toThrow(
      `${file()} can't be used: The database file is damaged or not a database`,
    );
    await rm(file());
    edit(file(), "CREATE TABLE theirs (a)");
    await expect(openStore()).rejects.toThrow(`${file()} is another program's database: choose another data folder`);
    await rm(file());
    await (await openStore()).close();
    edit(file(), "PRAGMA user_version = 1000");
    const newer = `${file()} was written by a newer version of jsonplane (it has schema version 1000, this program knows `;
    await expect(openStore()).rejects.toThrow(newer);
  });

  it("is refused when its database is cut short", async () => {
    const store = await openStore();
    const collection = freshCollection();
    await fillCollection(store, collection, 200, (n) => objectOf(n, {}));
    await store.close();
    await truncate(file(), 8_192);
    await expect(openStore()).rejects.toThrow(`${file()} can't be used: The database is damaged`);
  });

  it("answers that the store is unavailable when pages are damaged, and goes on with the others", async () => {
    const first = await openStore();
    const [damaged, document] = [freshCollection(), freshDocument()];
    await first.initialise(document, "{}");
    await fillCollection(first, damaged, 3_000, (n) => objectOf(n, { a: '"text"' }));
    await first.close();
    await overwrite(file(), 100 * 4_096, (await stat(file())).size);
    const store = await openStore();
    await expect(scanned(store, damaged)).rejects.toThrow(new StoreUnavailable("The database is damaged"));
    expect(store.health()).toEqual({ reachable: false });
    expect(await store.readAt(document, [])).toEqual({ outcome: "found", text: "{}" });
  });

  it("says so when the disk is full: nothing of that write took place, reads go on", async () => {
    const { stdout } = await run("bash", [
      "-c",
      `ulimit -f 4096; exec "$0" "$1" fill "$2"`,
      process.execPath,
      probe,
      folder,
    ]);
    const report = JSON.parse(stdout) as Record<string, unknown>;
    expect(report).toMatchObject({ lastIsWhole: true, reachableAfterFailure: false });
    expect(report.count).toBe(report.written);
    expect(report.written).toBeGreaterThan(10);
    expect(["StoreUnavailable", "OutcomeUnknown"]).toContain(report.name);
    expect(report.message).toMatch(
      /^(Reading or writing the data folder failed|The disk that holds the data folder is full)$/,
    );
    const store = await openStore();
    expect(await store.count(probedCollection, {})).toBe(report.written);
    await expectIndexesExact(store, probedCollection, ["user:alice"]);
  });

  it.each<[string, () => Promise<void>]>([
    ["removed", () => rm(folder, { recursive: true })],
    ["moved away", () => rename(folder, `${folder}.moved`)],
    ["replaced by a copy", replaceByCopy],
  ])("takes no more writes once it was %s, and reads go on", async (_, harm) => {
    const store = await openStore();
    const collection = freshCollection();
    await store.create(collection, objectOf(1, {}), plenty);
    await harm();
    const refused = [2, 3].map((n) => store.create(collection, objectOf(n, {}), plenty));
    for (const each of await Promise.allSettled(refused)) {
      expect(each).toMatchObject({ status: "rejected", reason: expect.any(WritesRefused) });
    }
    expect(await store.count(collection, {})).toBe(1);
    await rm(`${folder}.moved`, { recursive: true, force: true });
  });

  it("has a log of changes go on over refused writes and a restart", async () => {
    const collection = loggedCollection();
    const first = await openStore();
    const begin = await first.newestChange(collection);
    await rename(folder, `${folder}.moved`);
    await expect(first.create(collection, objectOf(1, {}), plenty)).rejects.toBeInstanceOf(WritesRefused);
    expect(await first.newestChange(collection)).toBe(begin);
    await rename(`${folder}.moved`, folder);
    await first.create(collection, objectOf(2, {}), plenty);
    await first.close();
    const second = await openStore();
    await second.create(collection, objectOf(3, {}), plenty);
    const ids = (await entriesAfter(second, collection, begin)).map(([, id]) => id);
    expect(ids).toEqual([2, 3].map(idOf));
  });

  async function replaceByCopy(): Promise<void> {
    await rename(folder, `${folder}.moved`);
    await cp(`${folder}.moved`, folder, { recursive: true });
  }

  it("leaves no trace of a store in memory", async () => {
    const collection = freshCollection();
    const first = await openStore(":memory:");
    await first.create(collection, objectOf(1, {}), plenty);
    const second = await openStore(":memory:");
    expect(await second.count(collection, {})).toBe(0);
    await expect(stat(":memory:")).rejects.toThrow("ENOENT");
  });
});

async function probed(what: string, directory: string): Promise<unknown> {
  return JSON.parse((await run(process.execPath, [probe, what, directory])).stdout);
}

async function scanned(store: Store, collection: CollectionRef): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const batch of store.scan(collection, {})) texts.push(...batch);
  return texts;
}

/** As another program would, while no store has it open. */
function edit(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

function rowsIn(file: string, sql: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const count = Number(database.prepare(sql).get()?.n);
  database.close();
  return count;
}

async function overwrite(file: string, from: number, to: number): Promise<void> {
  const handle = await open(file, "r+");
  await handle.write(Buffer.alloc(to - from, 0xa5), 0, to - from, from);
  await handle.close();
}
