// A store that writes of a project with a quota go through: sets room aside before each write that adds something, and gives back
// what the write did not use. Whatever writes, it can't be gone round. Refuses with 403 `quota_exceeded`.

import type { ProjectQuota } from "../../core/config/types.ts";
import { OutcomeUnknown } from "../../core/errors/store-errors.ts";
import { kindOf, membersOf } from "../../core/json/members.ts";
import type { CollectionRef, DocumentRef, DocumentWrite, NewObject, Path, Store, StoredObject } from "../store/port.ts";
import type { SomeFigures } from "./figures.ts";
import type { Held, ProjectUsage, Want } from "./project-usage.ts";
import { createRepeatableWrite } from "./repeated-writes.ts";

export function guardedStore(store: Store, usage: ProjectUsage, quota: ProjectQuota): Store {
  const guard = { store, usage, quota };
  const freeing = <T>(removal: Promise<T>): Promise<T> => removal.finally(usage.freed);
  const repeatable = createRepeatableWrite(store);
  return {
    ...store,
    create: (collection, object, maxObjects) =>
      repeatable(collection, object.receipt, async () => {
        const added = { objects: 1, ...(quota.bytes !== undefined && { bytes: Buffer.byteLength(object.text) }) };
        const held = await usage.hold(quota, { sure: added });
        const write = store.create(collection, object, maxObjects);
        return settled(held, write, added, ({ outcome }) => (outcome === "created" ? added : {}));
      }),
    async initialise(document, text) {
      // What a root key begins with its owner wrote: it counts, and is never refused.
      const isStored = await store.initialise(document, text);
      if (isStored) usage.added({ bytes: Buffer.byteLength(text), documentKeys: topMembers(text) });
      return isStored;
    },
    replace: (collection, object, previous) => replace(guard, collection, object, previous),
    insertAt(document, path, text, limits) {
      const sure = path.length === 1 && quota.documentKeys !== undefined ? { documentKeys: 1 } : {};
      const want = { sure, upTo: growth(quota, path, text) };
      const write = ({ bytes }: SomeFigures) =>
        store.insertAt(document, path, text, { ...limits, ...(bytes !== undefined && { maxGrowth: bytes }) });
      return repeatable(document, limits.receipt, () => written(guard, want, sure, write));
    },
    putAt: (document, path, text, limits) => put(guard, { document, path, text, limits }),
    remove: (...args) => freeing(store.remove(...args)),
    removeUnchanged: (...args) => freeing(store.removeUnchanged(...args)),
    removeAt: (...args) => freeing(store.removeAt(...args)),
  };
}

interface Guard {
  readonly store: Store;
  readonly usage: ProjectUsage;
  readonly quota: ProjectQuota;
}

async function replace(
  { store, usage, quota }: Guard,
  collection: CollectionRef,
  object: NewObject,
  before: StoredObject,
) {
  const bytes = quota.bytes === undefined ? 0 : Buffer.byteLength(object.text) - Buffer.byteLength(before.text);
  if (bytes <= 0) {
    const result = await store.replace(collection, object, before);
    if (bytes < 0) usage.freed();
    return result;
  }
  const held = await usage.hold(quota, { sure: { bytes } });
  const write = store.replace(collection, object, before);
  return settled(held, write, { bytes }, ({ outcome }) => (outcome === "replaced" ? { bytes } : {}));
}

interface Put {
  readonly document: DocumentRef;
  readonly path: Path;
  readonly text: string;
  readonly limits: Parameters<Store["putAt"]>[3];
}

/** A PUT that may add a key is carried out as one that may not where no key has room: only the store knows which it is. */
async function put(guard: Guard, { document, path, text, limits }: Put): Promise<DocumentWrite> {
  const { store, usage, quota } = guard;
  const keys = quota.documentKeys === undefined ? 0 : await keysOfPut(store, document, path, text);
  const isWhole = path.length === 0;
  const sure = isWhole && keys > 0 ? { documentKeys: keys } : {};
  const mayAddKey = !isWhole && keys > 0 && limits.mayCreate;
  const upTo = { ...growth(quota, path, text), ...(mayAddKey && { documentKeys: 1 }) };
  let lacksKey = false;
  const result = await written(guard, { sure, upTo }, sure, ({ bytes, documentKeys }) => {
    lacksKey = mayAddKey && documentKeys === 0;
    const mayCreate = limits.mayCreate && !lacksKey;
    return store.putAt(document, path, text, {
      ...limits,
      mayCreate,
      ...(bytes !== undefined && { maxGrowth: bytes }),
    });
  });
  if (lacksKey && result.outcome === "create_refused") throw usage.refusal(quota, "documentKeys");
  if (isWhole && keys < 0) usage.freed();
  return result;
}

/** How many members more the top has after a PUT: exactly for the whole value, at most otherwise. */
async function keysOfPut(store: Store, document: DocumentRef, path: Path, text: string): Promise<number> {
  if (path.length > 0) return path.length === 1 ? 1 : 0;
  return topMembers(text) - (await store.documentFigures(document)).members;
}

function topMembers(text: string): number {
  const kind = kindOf(text);
  if (kind === "object") return membersOf(text).length;
  return kind === "array" ? (JSON.parse(text) as readonly unknown[]).length : 0;
}

/** The most bytes by which a write makes a document longer: its text, the name of a new key, a colon and a comma. */
function growth({ bytes }: ProjectQuota, path: Path, text: string): SomeFigures {
  if (bytes === undefined) return {};
  const name = path.at(-1);
  return { bytes: Buffer.byteLength(text) + (name === undefined ? 0 : Buffer.byteLength(JSON.stringify(name)) + 2) };
}

async function written(
  { usage, quota }: Guard,
  want: Want,
  sure: SomeFigures,
  write: (granted: SomeFigures) => Promise<DocumentWrite>,
): Promise<DocumentWrite> {
  const held = await usage.hold(quota, want);
  const result = await settled(held, write(held.granted), { ...sure, ...held.granted }, (answer) =>
    addedBy(answer, sure, held.granted),
  );
  if (result.outcome === "quota_exceeded") throw usage.refusal(quota, "bytes");
  if ("growth" in result && (result.growth ?? 0) < 0) usage.freed();
  return result;
}

function addedBy(answer: DocumentWrite, sure: SomeFigures, granted: SomeFigures): SomeFigures {
  if (answer.outcome !== "created" && answer.outcome !== "replaced") return {};
  const keys = (sure.documentKeys ?? 0) + (answer.outcome === "created" ? (granted.documentKeys ?? 0) : 0);
  return { bytes: Math.max(0, answer.growth ?? 0), documentKeys: keys };
}

/** `most` is what the write added when nobody knows whether it took place; the store says so within seconds. */
async function settled<T>(
  held: Held,
  write: Promise<T>,
  most: SomeFigures,
  added: (result: T) => SomeFigures,
): Promise<T> {
  try {
    const result = await write;
    held.settle(added(result));
    return result;
  } catch (error) {
    held.settle(error instanceof OutcomeUnknown ? most : {});
    throw error;
  }
}
