// `npm run bench -- scale [--projects N]`: what 100,000 Projects and 1 TB are in a Redis Cluster.
// First it computes which primaries have how much, from the names of keys alone. Then it stores N
// Projects in a Cluster of three primaries, tries the computation on it, and prints what each thing
// takes. Only bytes and keys are counted, so a busy machine changes nothing.

import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { configKeys, credentialsKey, projectConfigKey } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import { mapLimited } from "../../core/map-limited.ts";
import type { DataInventory } from "../../operator/model/data-inventory.ts";
import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { begunPublisher, entry, inventoryWith, openRedisClient } from "../support/fleet/publishing.ts";
import { inNamespace, project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedisCluster } from "../support/redis/redis-cluster.ts";
import { fillCollection, objectOf } from "../support/store/stored-objects.ts";
import { printTable } from "./figures.ts";
import { collectionTag, primaryOf, printDistribution, refOf, slotOf } from "./slots.ts";
import { bookIndexes, bookSchema, bookText } from "./subjects.ts";

const primaries = 3;
const projectsAtOnce = 8;
const smallCollection = 100;
const largeCollection = 20_000;
const resource = "books";
const indexes = bookIndexes.map((name) => ({ name, path: [name] }));

type Row = readonly [what: string, bytes: number];

export async function measureScale(args: readonly string[]): Promise<void> {
  const { projects = "1000" } = readArguments({ projects: { type: "string" } }, [], args).values;
  const count = wholeNumber("--projects", projects, 10);
  printDistribution();
  const cluster = await startRedisCluster(primaries);
  const all = cluster.nodes.map(({ port }) => new Redis(port, "127.0.0.1", { protocol: 2 }));
  try {
    // The one with the configuration.
    const first = all[primaryOf(slotOf("jsonplane"), primaries)] as Redis;
    const [few, many] = await publishedBytes(cluster.url, first, count);
    const rows: readonly Row[] = [
      [`configuration of a Project, the first ${Math.ceil(count / 10)}`, few],
      [`configuration of a Project, the others of ${count}`, many],
      ...(await keyBytes(first, count)),
      ...(await storedBytes(cluster.url, all, count)),
    ];
    console.log(`\nMeasured in a Cluster of ${primaries} primaries:\n`);
    printTable(
      ["what", "bytes"],
      rows.map(([what, bytes]) => [what, Math.round(bytes).toLocaleString("en")]),
    );
  } finally {
    for (const node of all) node.disconnect();
    await cluster.stop();
  }
}

/** Of each of the first tenth, and of the others. */
async function publishedBytes(url: string, first: Redis, count: number): Promise<readonly [number, number]> {
  const redisClient = await openRedisClient(url);
  const publisher = await begunPublisher({ redisClient, keyring: parseKeyring(newKeyringText()) });
  const each = async (from: number, to: number): Promise<number> => {
    const before = await memoryOf(first);
    for (let index = from; index < to; index += 1) await publisher.publish(projectOf(index), inventoryOfProject());
    return ((await memoryOf(first)) - before) / (to - from);
  };
  const few = Math.ceil(count / 10);
  try {
    return [await each(0, few), await each(few, count)];
  } finally {
    redisClient.disconnect();
  }
}

function projectOf(index: number): CompiledProject {
  const { namespace, name } = refOf(index);
  return project(
    name,
    inNamespace(namespace),
    withKey(`key of ${index}`),
    withUser("ann"),
    withRootKey("settings"),
    withResource("notes", { schema: bookSchema }),
    withResource(resource, { schema: bookSchema, indexes: bookIndexes, scope: { read: "All" } }),
  );
}

function inventoryOfProject(): DataInventory {
  const uids = () => ({ uid: randomUUID(), namespaceUid: randomUUID() });
  return inventoryWith(
    entry(resource, uids()),
    entry("notes", uids()),
    entry("settings", { ...uids(), what: "rootkey" }),
  );
}

/** A Project's part of the keys that all share, and the keys of its own. */
async function keyBytes(first: Redis, count: number): Promise<readonly Row[]> {
  const usage = async (key: string): Promise<number> =>
    Number((await first.call("MEMORY", "USAGE", key, "SAMPLES", "0")) ?? 0);
  return [
    ["of it, the entry in the index of Projects", (await usage(configKeys.projects)) / count],
    ["of it, what is known of its stored data", (await usage(configKeys.data)) / count],
    ["of it, the hash with settings and schemas", await usage(projectConfigKey(refOf(1)))],
    ["of it, the hash with credentials", await usage(credentialsKey(refOf(1)))],
  ];
}

async function storedBytes(url: string, all: readonly Redis[], count: number): Promise<readonly Row[]> {
  const store = await openRedisStore({ url });
  const fill = async (index: number, objects: number): Promise<void> => {
    const collection = { project: refOf(index), resource };
    await store.declareIndexes(collection, indexes, 1);
    await fillCollection(store, collection, objects, (n) => {
      const members = Object.entries(JSON.parse(bookText(n)) as Record<string, unknown>);
      return objectOf(n, Object.fromEntries(members.map(([name, value]) => [name, JSON.stringify(value)])));
    });
  };
  const empty = await usedBytes(all);
  await mapLimited(
    Array.from({ length: count }, (_, index) => index),
    projectsAtOnce,
    (index) => fill(index, smallCollection),
  );
  const small = await usedBytes(all);
  const found = await Promise.all(all.map(async (node) => (await node.keys("jp:{*}:ids")).length));
  requireComputed(found, count);
  const savedSmall = await savedBytes(all);
  await fill(count, largeCollection);
  const large = await usedBytes(all);
  const savedLarge = await savedBytes(all);
  await store.close();
  const objects = count * smallCollection;
  return [
    [`object in a collection of ${smallCollection}`, (small - empty) / objects],
    [`object in a collection of ${largeCollection}`, (large - small) / largeCollection],
    ["object of a large collection, in the file of a save", (savedLarge - savedSmall) / largeCollection],
  ];
}

/** Throws where the primaries have other collections than the computation says. */
function requireComputed(found: readonly number[], count: number): void {
  const expected = Array.from({ length: primaries }, () => 0);
  for (let index = 0; index < count; index += 1) {
    const at = primaryOf(slotOf(collectionTag(refOf(index), resource)), primaries);
    expected[at] = (expected[at] ?? 0) + 1;
  }
  if (found.join() !== expected.join()) throw new Error(`The primaries have ${found}, not ${expected}`);
  console.log(`\nOf ${count} collections, ${found.join(", ")} are on the primaries, as computed.`);
}

async function usedBytes(nodes: readonly Redis[]): Promise<number> {
  return (await Promise.all(nodes.map(memoryOf))).reduce((sum, bytes) => sum + bytes, 0);
}

async function memoryOf(node: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await node.info("memory"))?.[1]);
}

/** Of the files of all primaries. */
async function savedBytes(nodes: readonly Redis[]): Promise<number> {
  let sum = 0;
  for (const node of nodes) {
    await node.save();
    const [, folder = ""] = (await node.config("GET", "dir")) as string[];
    const [, file = ""] = (await node.config("GET", "dbfilename")) as string[];
    sum += (await stat(join(folder, file))).size;
  }
  return sum;
}
