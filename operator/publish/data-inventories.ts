// The data inventories of all projects, as their only writer remembers them, and their text in
// Redis. A project whose inventory can't be read is refused until a person decides: its purges and
// namespaces must not be guessed.

import { configKeys, keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { listOf, optionalText, textOf, textsOf } from "../../core/redis/reply.ts";
import type { DataInventory } from "../model/data-inventory.ts";
import { InventoryUnreadable } from "./refusals.ts";

/** Records of one HSCAN step, about. */
const inventoriesPerStep = 1_000;

/** By `<namespace>/<name>`; without those that can't be read, for the others' sake. */
export async function readDataInventories(redisClient: RedisClient): Promise<Map<string, DataInventory>> {
  const inventories = new Map<string, DataInventory>();
  for await (const page of dataInventoryPages(redisClient))
    for (const [key, inventory] of page) inventories.set(key, inventory);
  return inventories;
}

/** The same, some at a time. One that is written meanwhile may come twice. */
export async function* dataInventoryPages(
  redisClient: RedisClient,
  onUnreadable?: (project: string) => void,
): AsyncIterable<ReadonlyMap<string, DataInventory>> {
  let cursor = "0";
  do {
    const reply = await redisClient.read(
      configKeys.data,
      "HSCAN",
      configKeys.data,
      cursor,
      "COUNT",
      inventoriesPerStep,
    );
    const [next, pairs] = listOf(reply);
    cursor = textOf(next);
    const texts = textsOf(pairs);
    const page = new Map<string, DataInventory>();
    for (let at = 0; at < texts.length; at += 2) {
      const [key = "", text = ""] = [texts[at], texts[at + 1]];
      const inventory = parseInventory(text);
      if (inventory === undefined) onUnreadable?.(key);
      else page.set(key, inventory);
    }
    yield page;
  } while (cursor !== "0");
}

/** Throws InventoryUnreadable. */
export async function readDataInventory(redisClient: RedisClient, ref: ProjectRef): Promise<DataInventory | undefined> {
  const field = keyOfProject(ref);
  const text = optionalText(await redisClient.read(configKeys.data, "HGET", configKeys.data, field));
  if (text === undefined) return undefined;
  const inventory = parseInventory(text);
  if (inventory !== undefined) return inventory;
  throw new InventoryUnreadable(
    `What Redis holds of this Project's data can't be read (field ${field} of the hash ${configKeys.data}). Restore it from a backup, or remove it with HDEL: the data that are served then count as this namespace's, and purges that waited are given up. Before that, remove the Project's fields of the hash ${configKeys.orders}: purges that were ordered would take data that are stored later`,
  );
}

/** The inventory with its revision where it waits for one. */
export function withPurgeRevision(inventory: DataInventory | undefined, revision: number): DataInventory | undefined {
  if (inventory === undefined) return inventory;
  const dated = <T extends { readonly purgeFromRevision?: number }>(each: T): T =>
    each.purgeFromRevision === 0 ? { ...each, purgeFromRevision: revision } : each;
  const { entries, deletedProjects } = inventory;
  return {
    ...inventory,
    entries: entries.map(dated),
    ...(deletedProjects !== undefined && { deletedProjects: deletedProjects.map(dated) }),
  };
}

/** As it stands in Redis; empty = no inventory. */
export function inventoryText(inventory: DataInventory | undefined): string {
  return inventory === undefined ? "" : JSON.stringify(inventory);
}

/** Undefined for a text that is not one of `inventoryText`. */
export function parseInventory(text: string): DataInventory | undefined {
  try {
    const inventory = JSON.parse(text) as Partial<DataInventory> | null;
    if (!Array.isArray(inventory?.entries) || typeof inventory.projectUid !== "string") return undefined;
    return inventory as DataInventory;
  } catch {
    // The caller says so, without quoting it.
    return undefined;
  }
}
