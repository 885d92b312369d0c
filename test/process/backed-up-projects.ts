// Two Projects with data, anew before each test, in a Redis with no more rights than
// docs/reference/redis.md gives, and the commands that back them up and restore them.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { readBackupReport } from "../../core/config/backup-report.ts";
import { configKeys } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { DataEntry } from "../../operator/model/data-inventory.ts";
import { begunPublisher, entry, inventoryWith, openRedisClient } from "../support/fleet/publishing.ts";
import { inNamespace, type Modifier, project, withResource, withRootKey } from "../support/http/projects.ts";
import { runProgram } from "../support/process/run-program.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { startS3, type TestS3 } from "../support/s3/s3-server.ts";
import { pageByCreation } from "../support/store/page-by-creation.ts";
import { fillCollection, objectOf } from "../support/store/stored-objects.ts";

export const shop = { namespace: "default", name: "shop" };
const blog = { namespace: "team-a", name: "blog" };
const books = { project: shop, resource: "books" };
const changes = { retentionSeconds: 3_600, maxEntries: 10_000 };
const posts = { project: blog, resource: "posts" };
const flags = { project: shop, rootKey: "flags" };
const value = '{"10":1.0,"2":9007199254740993,"a \\"b\\"":{"":null}}';
const unique = [{ fields: [{ name: "isbn", path: ["isbn"] }] }] as const;

/** Books of the shop, whose changes are logged. */
export const logged = { ...books, changes };
export const ofBooks = { indexes: ["price"], unique, changes } as const;
/** How many of them there are. */
export const count = 260;

export const folder = temporaryFolder("jsonplane-backup-");
const keyringText = newKeyringText();
const keyringFile = join(folder.path, "keyring.json");

export let redis: TestRedis;
export let s3: TestS3;
export let store: Store;
/** The next place that nothing is in. */
let places = 0;

beforeAll(async () => {
  await writeFile(keyringFile, keyringText);
  [redis, s3] = await Promise.all([startRedis(), startS3()]);
  await allowAsDocumented(redis);
  store = await openRedisStore({ url: documentedUrl(redis, "jsonplane-dataplane") });
});
afterAll(async () => {
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

export const placeInFolder = (): string => join(folder.path, `place-${places}`);
export const placeInBucket = (): string => `s3://${s3.bucket}/of/test-${places}`;
export const bucketFlags = (): readonly string[] => [
  ...["--s3-endpoint", s3.endpoint, "--s3-access-key-id", s3.accessKeyId],
  ...["--s3-secret-access-key", s3.secretAccessKey],
];

/**
 * An empty Redis to which an operator has published: every object has another UID than before.
 * `limited` changes the shop.
 */
export async function anew(limited: Modifier = (parts) => parts): Promise<void> {
  const admin = await openRedisClient(redis.url);
  await admin.write("x", "FLUSHALL");
  const publisher = await begunPublisher({ redisClient: admin, keyring: parseKeyring(keyringText) });
  const publish = (parts: CompiledProject, ...entries: readonly DataEntry[]) =>
    publisher.publish(parts, inventoryWith(...entries));
  await publish(
    project("shop", withResource("books", { ...ofBooks }), withRootKey("flags"), limited),
    entry("books"),
    entry("flags", { what: "rootkey" }),
  );
  await publish(project("blog", inNamespace("team-a"), withResource("posts")), entry("posts"));
  admin.disconnect();
}

export const backup = (place: string, ...words: readonly string[]) =>
  runProgram(["backup", place, "--redis", documentedUrl(redis, "jsonplane-backup"), ...words]);
export const restore = (place: string, ...words: readonly string[]) => {
  const redisUrl = documentedUrl(redis, "jsonplane-dataplane");
  return runProgram(["restore", place, "--redis", redisUrl, "--keyring", keyringFile, ...words]);
};

export async function stored() {
  const all = { offset: 0, limit: 1_000, descending: false };
  const [storedBooks, ofPosts, read] = await Promise.all([
    pageByCreation(store, books, {}, all),
    pageByCreation(store, posts, {}, all),
    store.readAt(flags, []),
  ]);
  return { books: storedBooks.texts, posts: ofPosts.texts, flags: read.outcome === "found" ? read.text : undefined };
}
export async function report() {
  const admin = await openRedisClient(redis.url);
  const text = await admin.read(configKeys.backup, "HGET", configKeys.backup, "last");
  admin.disconnect();
  return readBackupReport(String(text));
}
