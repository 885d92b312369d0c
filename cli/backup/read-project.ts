// Everything that is stored of one Project as the file of an export. What changes are logged of is
// read again where it has changed meanwhile, and then is as it was when the reading ended.

import { configKeys } from "../../core/config/config-keys.ts";
import { storeFields } from "../../core/config/store-fields.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { listOf, optionalText } from "../../core/redis/reply.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import { ExportWriter } from "../../core/transfer/export-writer.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { LogPosition } from "../../dataplane/store/ports/changes.ts";
import type { CollectionRef } from "../../dataplane/store/ports/refs.ts";
import { collectionKeys } from "../../dataplane/store/redis/keys.ts";
import { changedObjects, LogGone } from "../../dataplane/transfer/changed-objects.ts";
import { readObjects } from "../../dataplane/transfer/read-objects.ts";
import { StartRefused } from "../start-refused.ts";

export interface StoredProject {
  readonly project: ProjectRef;
  readonly resources: readonly string[];
  readonly rootKeys: readonly string[];
}

export interface ReadProjectDeps {
  readonly store: Pick<Store, "scan" | "readObjects" | "readAt" | "changesAfter" | "newestChange">;
  readonly redisClient: Pick<RedisClient, "read">;
  /** Told how many objects and values follow. */
  readonly onObjects: (count: number) => void;
}

export async function* exportOf(deps: ReadProjectDeps, stored: StoredProject): AsyncGenerator<Uint8Array> {
  const { project, resources, rootKeys } = stored;
  const writer = new ExportWriter();
  yield writer.head({ exportedAt: rfc3339(Date.now()), resources, rootKeys });
  const starts = new Map<CollectionRef, LogPosition>();
  for (const resource of resources) {
    // By its name alone: what has expired and is still stored is left out when it is restored.
    const collection = { project, resource };
    if (await hasLog(deps, collection)) starts.set(collection, await deps.store.newestChange(collection));
    for await (const texts of readObjects(deps.store, { collection })) {
      deps.onObjects(texts.length);
      yield writer.objects(resource, texts);
    }
  }
  yield* valuesOf(deps, stored, writer);
  yield* changesOf(deps, starts, writer);
  await requireData(deps.redisClient);
  yield writer.end();
}

/**
 * Throws StartRefused where Redis has lost its data and nobody has accepted that: the backup of
 * what is left would be the newest one, and take the place of an older one.
 */
export async function requireData(redisClient: Pick<RedisClient, "read">): Promise<void> {
  const { meta } = configKeys;
  const [id, loss] = listOf(await redisClient.read(meta, "HMGET", meta, storeFields.id, storeFields.loss));
  if (optionalText(id) !== undefined && optionalText(loss) === undefined) return;
  throw new StartRefused("Redis has lost its data: restore them, or accept the loss; older backups stay as they are");
}

async function* valuesOf(
  { store, onObjects }: ReadProjectDeps,
  { project, rootKeys }: StoredProject,
  writer: ExportWriter,
): AsyncGenerator<Uint8Array> {
  for (const rootKey of rootKeys) {
    const found = await store.readAt({ project, rootKey }, []);
    if (found.outcome !== "found") continue;
    onObjects(1);
    yield writer.item({ kind: "value", rootKey, text: found.text });
  }
}

async function* changesOf(
  { store }: ReadProjectDeps,
  starts: ReadonlyMap<CollectionRef, LogPosition>,
  writer: ExportWriter,
): AsyncGenerator<Uint8Array> {
  if (starts.size > 0) yield writer.item({ kind: "changes" });
  for (const [collection, from] of starts) {
    const { resource } = collection;
    for await (const { texts, gone } of changesSince(store, collection, from)) {
      yield writer.objects(resource, texts);
      yield writer.items(gone.map((id) => ({ kind: "deleted", resource, id })));
    }
  }
}

/** To ask for the newest change of a log that isn't there would begin one. */
async function hasLog({ redisClient }: ReadProjectDeps, collection: CollectionRef): Promise<boolean> {
  const { log } = collectionKeys(collection);
  return Number(await redisClient.read(log, "XLEN", log)) > 0;
}

/** Ends early where the log has dropped what is needed: then objects are as they were read. */
async function* changesSince(store: ReadProjectDeps["store"], collection: CollectionRef, from: LogPosition) {
  try {
    yield* changedObjects(store, collection, { from, to: await store.newestChange(collection) }, undefined);
  } catch (error) {
    if (!(error instanceof LogGone)) throw error;
  }
}
