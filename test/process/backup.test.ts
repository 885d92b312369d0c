// `jsonplane backup` and `jsonplane restore`, as the chart's CronJobs run them: with no more rights
// in Redis than docs/reference/redis.md gives, to a folder and to a bucket.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createBucket } from "../../cli/backup/places/bucket.ts";
import { createFolder } from "../../cli/backup/places/folder.ts";
import { readBackupReport } from "../../core/config/backup-report.ts";
import { configKeys, keyOfProject } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { DataEntry } from "../../operator/model/data-inventory.ts";
import { programFile } from "../support/fleet/program-process.ts";
import { begunPublisher, entry, inventoryWith, openRedisClient } from "../support/fleet/publishing.ts";
import { inNamespace, project, withResource, withRootKey } from "../support/http/projects.ts";
import { runProgram } from "../support/process/run-program.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { startS3, type TestS3 } from "../support/s3/s3-server.ts";
import { pageByCreation } from "../support/store/page-by-creation.ts";
import { fillCollection, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const folder = temporaryFolder("jsonplane-backup-");
const keyringText = newKeyringText();
const keyringFile = join(folder.path, "keyring.json");
const unique = [{ fields: [{ name: "isbn", path: ["isbn"] }] }] as const;
const shop = { namespace: "default", name: "shop" };
const blog = { namespace: "team-a", name: "blog" };
const books = { project: shop, resource: "books" };
const changes = { retentionSeconds: 3_600, maxEntries: 10_000 };
const logged = { ...books, changes };
const posts = { project: blog, resource: "posts" };
const flags = { project: shop, rootKey: "flags" };
const value = '{"10":1.0,"2":9007199254740993,"a \\"b\\"":{"":null}}';
const count = 260;

/** Like a proxy in front of no service. */
const agreeing = createServer((request, response) => request.resume().on("end", () => response.end()));

let redis: TestRedis;
let s3: TestS3;
let store: Store;
/** The next place that nothing is in. */
let places = 0;

beforeAll(async () => {
  await writeFile(keyringFile, keyringText);
  [redis, s3] = await Promise.all([startRedis(), startS3()]);
  await allowAsDocumented(redis);
  await once(agreeing.listen(0, "127.0.0.1"), "listening");
  store = await openRedisStore({ url: documentedUrl(redis, "jsonplane-dataplane") });
});
afterAll(async () => {
  agreeing.close();
  await store?.close();
  await Promise.all([redis?.stop(), s3?.stop()]);
  await folder.remove();
});

beforeEach(async () => {
  places += 1;
  await mkdir(placeInFolder());
  await anew();
  await fillCollection(store, logged, count, (n) =>
    objectOf(n, { isbn: `"${n}"`, price: "1.5", big: "12345678901234567" }),
  );
  await fillCollection(store, posts, 3, (n) => objectOf(n, { title: '"ü"' }, "apikey:web"));
  await store.initialise(flags, value);
});

const placeInFolder = (): string => join(folder.path, `place-${places}`);
const placeInBucket = (): string => `s3://${s3.bucket}/of/test-${places}`;
const bucketFlags = (): readonly string[] => [
  ...["--s3-endpoint", s3.endpoint, "--s3-access-key-id", s3.accessKeyId],
  ...["--s3-secret-access-key", s3.secretAccessKey],
];

/** An empty Redis to which an operator has published: every object has another UID than before. */
async function anew(): Promise<void> {
  const admin = await openRedisClient(redis.url);
  await admin.write("x", "FLUSHALL");
  const publisher = await begunPublisher({ redisClient: admin, keyring: parseKeyring(keyringText) });
  const publish = (parts: CompiledProject, ...entries: readonly DataEntry[]) =>
    publisher.publish(parts, inventoryWith(...entries));
  await publish(
    project("shop", withResource("books", { indexes: ["price"], unique, changes }), withRootKey("flags")),
    entry("books"),
    entry("flags", { what: "rootkey" }),
  );
  await publish(project("blog", inNamespace("team-a"), withResource("posts")), entry("posts"));
  admin.disconnect();
}

const backup = (place: string, ...words: readonly string[]) =>
  runProgram(["backup", place, "--redis", documentedUrl(redis, "jsonplane-backup"), ...words]);
const restore = (place: string, ...words: readonly string[]) => {
  const redisUrl = documentedUrl(redis, "jsonplane-dataplane");
  return runProgram(["restore", place, "--redis", redisUrl, "--keyring", keyringFile, ...words]);
};

async function stored() {
  const all = { offset: 0, limit: 1_000, descending: false };
  const [ofBooks, ofPosts, read] = await Promise.all([
    pageByCreation(store, books, {}, all),
    pageByCreation(store, posts, {}, all),
    store.readAt(flags, []),
  ]);
  return { books: ofBooks.texts, posts: ofPosts.texts, flags: read.outcome === "found" ? read.text : undefined };
}
const nothing = { books: [], posts: [], flags: undefined };

async function report() {
  const admin = await openRedisClient(redis.url);
  const text = await admin.read(configKeys.backup, "HGET", configKeys.backup, "last");
  admin.disconnect();
  return readBackupReport(String(text));
}

describe("what was backed up", () => {
  it.each(["a folder", "a bucket"])(
    "to %s is restored byte for byte into a Redis that has none of it",
    async (kind) => {
      const before = await stored();
      const [place, flagsOfPlace] = kind === "a folder" ? [placeInFolder(), []] : [placeInBucket(), bucketFlags()];
      expect(await backup(place, ...flagsOfPlace)).toMatchObject({ code: 0, error: "" });
      expect(await report()).toMatchObject({ projects: 2, objects: count + 4 });
      await anew();
      const one = await restore(place, ...flagsOfPlace, "--projects", keyOfProject(shop));
      expect(one).toMatchObject({
        code: 0,
        error: "",
        out: expect.stringContaining(`default/shop: ${count + 1} created (default`),
      });
      expect(await stored()).toEqual({ ...before, posts: [] });
      const all = await restore(place, ...flagsOfPlace, "--projects", "*");
      expect(all).toMatchObject({ code: 0, out: expect.stringContaining(`default/shop: ${count + 1} unchanged`) });
      expect(await stored()).toEqual(before);
      // The unique rule knows what was restored.
      const twin = await store.create(logged, objectOf(9_999, { isbn: '"1"' }), 10_000);
      expect(twin.outcome).toBe("not_unique");
    },
  );

  it("of one Project is restored, whatever is wrong with another", async () => {
    await backup(placeInFolder());
    await cp(join(placeInFolder(), "default/shop"), join(placeInFolder(), "default/gone"), { recursive: true });
    const [name = ""] = await readdir(join(placeInFolder(), "default/shop"));
    await writeFile(join(placeInFolder(), "default/shop", name), "damaged");
    const restored = await restore(placeInFolder(), "--projects", "*");
    expect(restored).toMatchObject({ code: 1, out: expect.stringMatching(/^team-a\/blog: 3 unchanged/) });
    expect(restored.error).toContain("default/gone is not restored: default/gone is not served");
    expect(restored.error).toContain("default/shop is not restored: ");
  });

  it("has all that was asked for, or the restore fails", async () => {
    await backup(placeInFolder());
    const restored = await restore(placeInFolder(), "--projects", "*", "--only", "posts,boks");
    expect(restored).toMatchObject({ code: 1, error: "jsonplane: No backup that was read has boks\n" });
  });

  it("overwrites nothing unless it is told to, and says what it left", async () => {
    const { books: texts } = await stored();
    await backup(placeInFolder());
    const changed = { ...objectOf(1, { isbn: '"1"', price: "2.5" }) };
    await store.replace(logged, changed, { text: texts[1] ?? "" });
    const kept = await restore(placeInFolder(), "--projects", "default/*");
    expect(kept).toMatchObject({ code: 1, out: expect.stringContaining(`${count} unchanged, 1 refused`) });
    expect(kept.error).toContain(`books/${changed.id} is not restored`);
    expect((await stored()).books[1]).toBe(changed.text);
    const tried = await restore(placeInFolder(), "--projects", "default/*", "--mode", "replace", "--dry-run");
    expect(tried).toMatchObject({ code: 0, out: expect.stringContaining("1 replaced") });
    expect((await stored()).books[1]).toBe(changed.text);
    expect((await restore(placeInFolder(), "--projects", "default/*", "--mode", "replace")).code).toBe(0);
    expect((await stored()).books).toEqual(texts);
  });

  it("and is encrypted opens with its key alone", async () => {
    const before = await stored();
    const [identity, other] = await Promise.all([generateIdentity(), generateIdentity()]);
    const files = [join(folder.path, "identity.txt"), join(folder.path, "other.txt")] as const;
    await writeFile(files[0], `# created: now\n${identity}\n`);
    await writeFile(files[1], `${other}\n`);
    await backup(placeInFolder(), "--recipients", await identityToRecipient(identity));
    const [name = ""] = await readdir(join(placeInFolder(), "default/shop"));
    expect(name).toMatch(/^\d{4}-.*Z\.ndjson\.gz\.age$/);
    expect(await readFile(join(placeInFolder(), "default/shop", name), "latin1")).toMatch(/^age-encryption.org\/v1\n/);
    await anew();
    for (const words of [[], ["--identity-file", files[1]]]) {
      const refused = await restore(placeInFolder(), "--projects", "*", ...words);
      expect([refused.code, await stored()]).toEqual([1, nothing]);
      expect(refused.error).toMatch(/is encrypted|can't be used: no identity matched/);
    }
    expect((await restore(placeInFolder(), "--projects", "*", "--identity-file", files[0])).code).toBe(0);
    expect(await stored()).toEqual(before);
  });

  it("is found by its Project and time, and listed", async () => {
    await backup(placeInFolder());
    const between = new Date().toISOString();
    await backup(placeInFolder());
    const names = (await restore(placeInFolder())).out.trim().split("\n");
    expect(names.map((name) => name.split("/")[0])).toEqual(["default", "default", "team-a", "team-a"]);
    const older = await restore(placeInFolder(), "--projects", "default/shop", "--before", between);
    expect(older.out).toContain(names[0]);
    const missing = await restore(placeInFolder(), "--projects", "default/shops");
    expect(missing).toMatchObject({ code: 1, error: expect.stringContaining("no such backup of default/shops") });
  });
});

describe("a file that is not what was written", () => {
  const damages: readonly (readonly [string, (file: Buffer) => Buffer, RegExp])[] = [
    ["cut off", (file) => file.subarray(0, file.length - 20), /unexpected end of file|cut off/],
    ["cut at the end of a line", edited((text) => `${text.split("\n").slice(0, 100).join("\n")}\n`), /cut off here/],
    ["with another price", edited((text) => text.replace("1.5,", "1.6,")), /checksum differs/],
    ["no backup at all", () => Buffer.from("hello"), /incorrect header/],
  ];
  it.each(damages)("%s is refused before anything is written", async (_what, damage, why) => {
    await backup(placeInFolder());
    const path = join(placeInFolder(), "default/shop");
    const [name = ""] = await readdir(path);
    await writeFile(join(path, name), damage(await readFile(join(path, name))));
    await anew();
    const refused = await restore(placeInFolder(), "--projects", "default/shop");
    expect([refused.code, await stored()]).toEqual([1, nothing]);
    expect(refused.error).toMatch(why);
  });

  function edited(edit: (text: string) => string): (file: Buffer) => Buffer {
    return (file) => gzipSync(edit(gunzipSync(file).toString()));
  }
});

describe("a backup", () => {
  it("keeps the newest ones of each Project, and files of others", async () => {
    const path = join(placeInFolder(), "default/shop");
    const names: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      expect((await backup(placeInFolder(), "--keep", "2")).code).toBe(0);
      if (at === 0) await writeFile(join(path, "0000-notes.txt"), "mine");
      names.push(
        (await readdir(path))
          .filter((name) => name.endsWith(".gz"))
          .sort()
          .at(-1) ?? "",
      );
    }
    expect((await readdir(path)).sort()).toEqual(["0000-notes.txt", ...names.slice(1)]);
  });

  it("stays where the clock was ahead of it before", async () => {
    const path = join(placeInFolder(), "default/shop");
    await mkdir(path, { recursive: true });
    const ahead = ["2090-01-01T00-00-00.000Z.ndjson.gz", "2091-01-01T00-00-00.000Z.ndjson.gz"];
    for (const name of ahead) await writeFile(join(path, name), "");
    await backup(placeInFolder(), "--keep", "2");
    expect((await readdir(path)).sort()).toEqual([expect.stringMatching(/^20[2-8]/), ahead[1]]);
  });

  it("is refused where Redis loses its data, so that no older one goes", async () => {
    await backup(placeInFolder(), "--keep", "1");
    const complete = (await restore(placeInFolder())).out;
    const { child, proxy } = await backupThatWaits("--keep", "1");
    await anew();
    const admin = await openRedisClient(redis.url);
    await admin.write(configKeys.meta, "HSET", configKeys.meta, "data_loss", "it");
    admin.disconnect();
    proxy.release();
    expect(await once(child, "exit")).toEqual([1, null]);
    await proxy.stop();
    const later = await backup(placeInFolder(), "--keep", "1");
    expect(later).toMatchObject({ code: 1, out: "", error: expect.stringContaining("Redis has lost its data") });
    expect((await restore(placeInFolder())).out).toBe(complete);
  });

  it("doesn't get in the way of another one at the same time", async () => {
    const place = createFolder(placeInFolder());
    const numbers = Array.from({ length: 30 }, (_, at) => at);
    async function* content() {
      yield Buffer.from("x");
    }
    const writeAll = async (one: string) => {
      for (const at of numbers) await place.write(`default/shop/${one}-${at}`, content());
    };
    await Promise.all(["a", "b", "c", "d"].map(writeAll));
    expect(await place.names("default/shop")).toHaveLength(4 * numbers.length);
  });

  it.each([
    ["SIGKILL", null],
    ["SIGTERM", 143],
  ] as const)("that ends by %s leaves no backup, removes none, and has failed", async (signal, code) => {
    await backup(placeInFolder(), "--keep", "1");
    const complete = (await restore(placeInFolder())).out;
    const { child, proxy } = await backupThatWaits("--keep", "1");
    const drafts = async () =>
      (await readdir(join(placeInFolder(), "default/shop"))).filter((name) => name.includes("unfinished"));
    await eventually(async () => expect(await drafts()).toHaveLength(1));
    child.kill(signal);
    const ended = once(child, "exit");
    await proxy.stop();
    expect((await ended)[0]).toBe(code);
    expect((await restore(placeInFolder())).out).toBe(complete);
  });

  it("has what is written while it reads, where changes are logged", async () => {
    // The first client that follows them begins the log.
    await store.newestChange(logged);
    const { child, proxy } = await backupThatWaits();
    const [first = "", second = ""] = (await stored()).books;
    await store.replace(logged, objectOf(0, { isbn: '"a"' }), { text: first });
    await store.removeUnchanged(logged, objectOf(1, {}).id, { text: second });
    await store.create(logged, objectOf(count, { isbn: '"b"' }), 10_000);
    const before = await stored();
    proxy.release();
    expect(await once(child, "exit")).toEqual([0, null]);
    await proxy.stop();
    await anew();
    expect((await restore(placeInFolder(), "--projects", "*")).code).toBe(0);
    expect(await stored()).toEqual(before);
  });

  /** It has read the objects, and doesn't go on before the proxy does. */
  async function backupThatWaits(...words: readonly string[]) {
    const proxy = await startTcpProxy(redis.port);
    const url = documentedUrl(redis, "jsonplane-backup").replace(`:${redis.port}`, `:${proxy.port}`);
    const held = proxy.holdFrom(/shop\/json\/flags/);
    const child = spawn(process.execPath, [programFile, "backup", placeInFolder(), "--redis", url, ...words]);
    await Promise.race([held, once(child, "exit")]);
    return { child, proxy };
  }

  it.each([
    ["a folder that isn't there", "/nowhere/at/all", () => [], /ENOENT/],
    ["a bucket that isn't there", "s3://nobodys/x", bucketFlags, /404 NoSuchBucket/],
    [
      "a wrong key",
      "s3://backups/x",
      () => [...bucketFlags(), "--s3-secret-access-key", "x"],
      /403 SignatureDoesNotMatch/,
    ],
    [
      "a service that is gone",
      "s3://backups/x",
      () => [...bucketFlags(), "--s3-endpoint", "http://127.0.0.1:9"],
      /can't be reached/,
    ],
    [
      "what agrees to anything",
      "s3://backups/x",
      () => [...bucketFlags(), "--s3-endpoint", `http://127.0.0.1:${(agreeing.address() as AddressInfo).port}`],
      /The bucket has no bytes of x\/default\/shop/,
    ],
  ] as const)("to %s fails with the reason, and doesn't count", async (_what, place, words, why) => {
    const failed = await backup(place, ...words());
    expect([failed.code, await report()]).toEqual([1, undefined]);
    expect(failed.error).toMatch(why);
  });

  it("has failed where a Project's inventory can't be read, and has the others", async () => {
    const admin = await openRedisClient(redis.url);
    await admin.write(configKeys.data, "HSET", configKeys.data, keyOfProject(shop), "{");
    admin.disconnect();
    const failed = await backup(placeInFolder());
    expect(failed).toMatchObject({ code: 1, out: expect.stringContaining("team-a/blog: 3 objects") });
    expect([failed.error, await report()]).toEqual([expect.stringContaining("default/shop is not"), undefined]);
  });

  it("of some Projects has no others, and doesn't count as one of all", async () => {
    expect((await backup(placeInFolder(), "--projects", "team-a/*")).code).toBe(0);
    expect([await readdir(placeInFolder()), await report()]).toEqual([["team-a"], undefined]);
  });

  it("of several parts appears in a bucket once it is whole, or not at all", async () => {
    const { endpoint: s3Endpoint, accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey, bucket } = s3;
    const credentials = { s3Endpoint, s3Region: "us-east-1", s3AccessKeyId, s3SecretAccessKey };
    const place = createBucket({ ...credentials, bucket, prefix: "", partBytes: 5 * 1024 * 1024 });
    const content = Buffer.alloc(12 * 1024 * 1024, "content");
    async function* pieces(fails: boolean) {
      for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000);
      if (fails) throw new Error("broken off");
    }
    await expect(place.write("parts/broken", pieces(true))).rejects.toThrow("broken off");
    await place.write("parts/whole", pieces(false));
    expect(await place.names("parts")).toEqual(["parts/whole"]);
    expect(Buffer.concat(await Array.fromAsync(place.read("parts/whole"))).equals(content)).toBe(true);
  });
});
