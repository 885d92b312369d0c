// Carries out the operator's orders to copy stored data of one Project into another one. It reads
// as an export does and writes as an import: what is there already stays as it is, so a copy that
// broke off goes on a little before where it ended. Both Projects have to be served all the time.

import { type CopyOrder, type CopyProgress, type CopyResult, copies } from "../../core/config/copy-order.ts";
import { idIn } from "../../core/object-id.ts";
import { anonymous } from "../authenticate/caller.ts";
import {
  type CarriedOrders,
  type CarryOutDeps,
  carryOutOrders,
  type Step,
  type StepEnd,
} from "../config/carry-out-orders.ts";
import type { Directory, LiveProject, LiveResource } from "../config/directory.ts";
import type { CollectionPreparer } from "../objects/prepare-collection.ts";
import type { DataStore } from "../store/port.ts";
import type { DocumentReads } from "../store/ports/documents.ts";
import type { ObjectLists } from "../store/ports/lists.ts";
import { collectionOf, documentOf } from "../store/ports/refs.ts";
import { type Copied, copyObject, copyValue, nothingCopied, withCopied } from "./copy-item.ts";
import { readObjects } from "./read-objects.ts";
import { type ObjectTarget, objectTarget, valueTarget } from "./write-object.ts";

export interface CopyStepsDeps {
  /** Read from. */
  readonly store: Pick<ObjectLists, "scan"> & DocumentReads;
  readonly directory: Pick<Directory, "project" | "dataLost">;
  readonly preparer: Pick<CollectionPreparer, "prepare">;
  /** Written to: for a project with a quota the one that enforces it. */
  readonly storeFor: (project: LiveProject) => DataStore;
}

export type CarryOutCopiesDeps = CopyStepsDeps & CarryOutDeps<CopyOrder, CopyResult>;

export function carryOutCopies(deps: CarryOutCopiesDeps): CarriedOrders {
  const begin = async (order: CopyOrder) => copySteps(deps, order);
  // Somebody waits for it.
  return carryOutOrders(deps, {
    kind: { ...copies, read: readUnlessHeld },
    begin,
    pauseRatio: 0.25,
    atOnce: 2,
    beginsEachTurn: true,
  });
}

function readUnlessHeld(text: string): CopyOrder | undefined {
  const order = copies.read(text);
  return order?.isHeld ? undefined : order;
}

/**
 * What is written together: validating it takes a few milliseconds, unless a single object is
 * larger.
 */
const perStep = { objects: 250, characters: 128 * 1024 };

type CopyStep = StepEnd<CopyProgress, CopyResult>;

export function copySteps(deps: CopyStepsDeps, order: CopyOrder): Step<CopyProgress, CopyResult> {
  const { store, storeFor } = deps;
  const { resources, rootKeys } = order;
  /** Of the resource whose turn it is. */
  let reading: Reading | undefined;

  const copyObjects = async (name: string, before: CopyProgress): Promise<CopyStep> => {
    const { from } = (await served(deps, order)) ?? {};
    const source = from?.resources.get(name);
    if (from === undefined || source === undefined) return waits(before);
    reading ??= new Reading(readObjects(store, { collection: collectionOf(from.config, source), after: before.after }));
    const texts = await reading.next();
    if (texts.length === 0) {
      reading = undefined;
      return isNext(before);
    }
    const omitted = order.omit.filter((field) => field.resource === name).map(({ path }) => path);
    const target = declaresAll(source, omitted) ? await preparedTarget(deps, order, name) : undefined;
    if (target === undefined) return waits(before);
    // All begin in the turn in which the Project was found to be served.
    const all = await Promise.all(texts.map((text) => copyObject(target, text, omitted)));
    const places = texts.map((text) => ({ at: before.at, after: idIn(text) }));
    return counted(before, all, places);
  };

  const copyRootKey = async (name: string, before: CopyProgress): Promise<CopyStep> => {
    const { from, into } = (await served(deps, order)) ?? {};
    const [source, rootKey] = [from?.rootKeys.get(name), into?.rootKeys.get(name)];
    if (from === undefined || into === undefined || !source || !rootKey) return waits(before);
    const found = await store.readAt(documentOf(from.config, source), []);
    if (found.outcome !== "found") return isNext(before);
    const still = (await served(deps, order))?.into;
    if (still !== into) return waits(before);
    const target = valueTarget({ store: storeFor(into), project: into, rootKey, caller: anonymous });
    return counted(before, [await copyValue(target, found.text)], [{ at: before.at + 1 }]);
  };

  return async (before = order.progress ?? nothingCopied) => {
    const resource = resources[before.at];
    const rootKey = rootKeys[before.at - resources.length];
    if (resource !== undefined) return copyObjects(resource, before);
    if (rootKey !== undefined) return copyRootKey(rootKey, before);
    const { copied, refused, examples } = before;
    return { isDone: true, result: { copied, refused, examples, endedAt: Date.now() } };
  };
}

/** Both Projects of the order; undefined while one of them is not served here. */
async function served(
  { directory }: Pick<CopyStepsDeps, "directory">,
  { project, uid, source }: CopyOrder,
): Promise<{ readonly from: LiveProject; readonly into: LiveProject } | undefined> {
  const from = await directory.project({ namespace: project.namespace, name: source.name });
  const into = await directory.project(project);
  if (directory.dataLost() || from.outcome !== "found" || into.outcome !== "found") return undefined;
  const areThese = from.value.config.uid === source.uid && into.value.config.uid === uid;
  return areThese ? { from: from.value, into: into.value } : undefined;
}

/**
 * Else what is left out may have another name by now, also in objects that are migrated to a schema
 * before it is live, and would be copied under it until the operator takes the order back.
 */
function declaresAll({ schema, nextSchema, config }: LiveResource, omitted: readonly (readonly string[])[]): boolean {
  const schemas = config.nextSchemaBinds === true && nextSchema !== undefined ? [schema, nextSchema] : [schema];
  return schemas.every(({ properties }) => omitted.every((path) => properties.has(path.join("."))));
}

/** Once the store knows the indexes of the resource. */
async function preparedTarget(deps: CopyStepsDeps, order: CopyOrder, name: string): Promise<ObjectTarget | undefined> {
  for (;;) {
    const project = (await served(deps, order))?.into;
    const resource = project?.resources.get(name);
    if (project === undefined || resource === undefined) return undefined;
    const target = objectTarget(deps.storeFor(project), project, resource);
    const preparing = deps.preparer.prepare(resource, target.collection);
    if (preparing === undefined) return target;
    await preparing;
  }
}

/** A part of some batches at a time; the next one is read while this one is written. */
class Reading {
  readonly #batches: AsyncIterator<readonly string[]>;
  #ahead: Promise<readonly string[]>;
  #read: readonly string[] = [];

  constructor(batches: AsyncIterable<readonly string[]>) {
    this.#batches = batches[Symbol.asyncIterator]();
    this.#ahead = this.#readAhead();
  }

  /** None at the end. */
  async next(): Promise<readonly string[]> {
    if (this.#read.length === 0) {
      this.#read = await this.#ahead;
      if (this.#read.length > 0) this.#ahead = this.#readAhead();
    }
    const texts: string[] = [];
    for (let characters = 0; texts.length < perStep.objects && characters < perStep.characters; ) {
      const text = this.#read[texts.length];
      if (text === undefined) break;
      texts.push(text);
      characters += text.length;
    }
    this.#read = this.#read.slice(texts.length);
    return texts;
  }

  #readAhead(): Promise<readonly string[]> {
    const batch = this.#batches.next().then(({ value }) => value ?? []);
    // Where nobody asks for it any more, nobody asks why it failed.
    batch.catch(() => undefined);
    return batch;
  }
}

type Place = Pick<CopyProgress, "at" | "after">;

/**
 * `places` = behind each of them. It waits behind the last one before the first for which there was
 * no room: of those before, some may have been deleted since to make it, and stay away.
 */
function counted(before: CopyProgress, all: readonly Copied[], places: readonly Place[]): CopyStep {
  const { at, after } = before;
  const full = all.indexOf("full");
  const done = full < 0 ? all : all.slice(0, full);
  const place = places[done.length - 1] ?? (after === undefined ? { at } : { at, after });
  const progress = { ...place, ...withCopied(before, done) };
  return full < 0 ? { isDone: false, progress } : waits({ ...progress, isFull: true });
}

function isNext({ at, copied, refused, examples }: CopyProgress): CopyStep {
  return { isDone: false, progress: { at: at + 1, copied, refused, examples } };
}

function waits(progress: CopyProgress): CopyStep {
  return { isDone: false, progress, waits: true };
}
