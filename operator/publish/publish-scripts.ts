// Calls the scripts that write configuration: positions of keys and arguments exist here only.

import {
  configKeys,
  credentialsKey,
  isCredentialField,
  keyOfProject,
  projectConfigKey,
} from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { listOf, numberOf, textOf, textsOf } from "../../core/redis/reply.ts";
import { loadScript, runsWithoutMemory, type Script } from "../../core/redis/script.ts";

/**
 * Entries that the stream of hints keeps, about: a replica that missed more reads the index of
 * projects instead.
 */
const streamLength = 10_000;

/** Text of a project's data inventory: `=` leaves the one that is stored, empty removes it. */
export type InventoryText = string;
export const unchangedInventory: InventoryText = "=";
export const noInventory: InventoryText = "";

export interface BeginRequest {
  readonly owner: string;
  /**
   * The epoch that stood there before the caller made sure that it may take another; empty = none.
   */
  readonly seen: string;
  /** Names the writer from now on. */
  readonly epoch: string;
  /**
   * Names the data set in Redis, unless it has a name: replicas see by it that Redis was emptied.
   * Stored as `dataset_id`.
   */
  readonly datasetId: string;
  readonly format: number;
  readonly takeOver: boolean;
  /** By which replicas know whether their key ring is this one (core/config/ring-mark.ts). */
  readonly ringMark: string;
  readonly store: ExpectedStore;
}

/** What to do about stored data that are not those of the expected store. */
export interface ExpectedStore {
  readonly policy: "serve" | "accept" | "refuse";
  /** Undefined = none is known yet: the one that is found is the right one. */
  readonly id?: string | undefined;
  /** For a store without one. */
  readonly newId: string;
  /** Names a loss, should one be found. */
  readonly loss: string;
  /**
   * Name of the loss that was accepted last: a Redis that says it went back, which is another loss.
   */
  readonly lastAccepted?: string | undefined;
}

export interface FoundStore {
  readonly id: string;
  /** Name of the loss that is not accepted. */
  readonly loss?: string;
  /** Stored data are gone, or others, and are served as they are. */
  readonly isOther: boolean;
}

export type BeginReply =
  | { readonly outcome: "begun"; readonly revision: string; readonly store: FoundStore }
  | { readonly outcome: "foreign" }
  | { readonly outcome: "overtaken" };

export interface PublishStep {
  readonly ref: ProjectRef;
  readonly epoch: string;
  /** What meta must say, so that `revision` is the next one. */
  readonly lastRevision: string;
  readonly revision: number;
}

export interface Publication extends PublishStep {
  readonly entry: string;
  readonly inventory: InventoryText;
  readonly values: readonly { readonly field: string; readonly value: string }[];
  readonly removed: readonly string[];
}

export type PublishReply =
  | { readonly outcome: "published" }
  | { readonly outcome: "not_the_writer" }
  | { readonly outcome: "overtaken"; readonly revision: string };

export interface PublishScripts {
  begin(request: BeginRequest): Promise<BeginReply>;
  publish(publication: Publication): Promise<PublishReply>;
  withdraw(step: PublishStep & { readonly inventory: InventoryText }): Promise<PublishReply>;
  recordData(epoch: string, ref: ProjectRef, inventory: InventoryText): Promise<PublishReply>;
  /** `order` empty = forget it. */
  writeOrder(epoch: string, id: string, order: string): Promise<PublishReply>;
  complete(epoch: string): Promise<PublishReply>;
  acceptLoss(epoch: string, storeId: string): Promise<PublishReply>;
}

export function createPublishScripts(redisClient: RedisClient): PublishScripts {
  const folder = new URL("./scripts/", import.meta.url);
  // Small beside what tenants store, and what fills Redis must not keep anybody from revoking or
  // removing.
  const load = (name: string): Script => runsWithoutMemory(loadScript(folder, name, "write"));
  const begin = load("begin-1");
  const publish = load("publish-6");
  const withdraw = load("withdraw-6");
  const recordData = load("put-inventory-2");
  const writeOrder = load("write-order-3");
  const complete = load("complete-2");
  const acceptLoss = load("accept-loss-1");
  return {
    async begin({ owner, seen, epoch, datasetId, format, takeOver, ringMark, store }) {
      const about = [store.policy, store.id ?? "", store.newId, store.loss, store.lastAccepted ?? ""];
      const args = [owner, seen, epoch, datasetId, format, takeOver ? "1" : "", ringMark, ...about];
      const [code, revision, ...found] = listOf(await redisClient.run(begin, [configKeys.meta], args));
      if (numberOf(code) === 0)
        return { outcome: "begun", revision: textOf(revision), store: foundStore(textsOf(found)) };
      return { outcome: numberOf(code) === 1 ? "foreign" : "overtaken" };
    },
    async publish({ ref, epoch, lastRevision, revision, entry, inventory, values, removed }) {
      const fields = JSON.stringify([...values.map((value) => value.field), ...removed]);
      const step = [epoch, lastRevision, revision, keyOfProject(ref), entry, streamLength];
      const sets = values.flatMap(({ field, value }) => [keyIndex(field), field, value]);
      const removals = removed.flatMap((field) => [keyIndex(field), field]);
      const args = [...step, fields, inventory, values.length, ...sets, ...removals];
      return replyOf(await redisClient.run(publish, keysOf(ref), args));
    },
    async withdraw({ ref, epoch, lastRevision, revision, inventory }) {
      const args = [epoch, lastRevision, revision, keyOfProject(ref), streamLength, inventory];
      return replyOf(await redisClient.run(withdraw, keysOf(ref), args));
    },
    async recordData(epoch, ref, inventory) {
      const keys = [configKeys.meta, configKeys.data];
      return replyOf(await redisClient.run(recordData, keys, [epoch, keyOfProject(ref), inventory]));
    },
    async writeOrder(epoch, id, order) {
      const keys = [configKeys.meta, configKeys.orders, configKeys.results];
      return replyOf(await redisClient.run(writeOrder, keys, [epoch, id, order]));
    },
    async complete(epoch) {
      const keys = [configKeys.meta, configKeys.changes];
      return replyOf(await redisClient.run(complete, keys, [epoch, streamLength]));
    },
    async acceptLoss(epoch, storeId) {
      return replyOf(await redisClient.run(acceptLoss, [configKeys.meta], [epoch, storeId]));
    },
  };
}

function keysOf(ref: ProjectRef): readonly string[] {
  const { meta, projects, changes, data } = configKeys;
  return [meta, projects, projectConfigKey(ref), credentialsKey(ref), changes, data];
}

function foundStore([id = "", loss = "", isOther = ""]: readonly string[]): FoundStore {
  return { id, ...(loss !== "" && { loss }), isOther: isOther === "1" };
}

/** Which of the script's keys holds a field. */
function keyIndex(field: string): 3 | 4 {
  return isCredentialField(field) ? 4 : 3;
}

function replyOf(reply: unknown): PublishReply {
  const [code, revision] = listOf(reply);
  switch (numberOf(code)) {
    case 0:
      return { outcome: "published" };
    case 1:
      return { outcome: "not_the_writer" };
    case 2:
      return { outcome: "overtaken", revision: textOf(revision) };
    default:
      throw new Error("A publish script answered with an unknown code");
  }
}
