// The store for writes of a project with a quota: reserves room before each write that adds
// something, and releases what was not used. Every write passes it. Refuses with 403
// `quota_exceeded`.

import type { ProjectQuota } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { OutcomeUnknown } from "../../core/errors/store-errors.ts";
import { membersIn } from "../../core/json/members.ts";
import { createKeyedMutex } from "../../core/keyed-mutex.ts";
import { type Method, wrapMethods } from "../store/observed-store.ts";
import type { DataStore } from "../store/port.ts";
import type { DocumentWrite, DocumentWrites, PutLimits } from "../store/ports/documents.ts";
import type { IdempotencyRecord, IdempotencyRecords, Repeated } from "../store/ports/idempotency.ts";
import type { ObjectWrites } from "../store/ports/objects.ts";
import type { CollectionRef, DocumentRef, Path } from "../store/ports/refs.ts";
import type { Sizes } from "../store/ports/sizes.ts";
import type { ProjectUsage, Reservation, Want } from "./project-usage.ts";
import type { PartialAmounts } from "./stored-amounts.ts";

type CountedWrites = ObjectWrites & DocumentWrites;

/** Carries a write out within the quota; `write` is the store's own. */
type Rule<Write extends (...args: never[]) => unknown> = (
  guard: Guard,
  write: Write,
  args: Parameters<Write>,
) => ReturnType<Write>;

/** The compiler wants a rule for every write that the store has; everything else passes. */
const rules: { readonly [Name in keyof CountedWrites]: Rule<CountedWrites[Name]> } = {
  create: ({ usage, quota, repeatable }, write, [collection, object, maxObjects]) =>
    repeatable(collection, object.record, async () => {
      const added = { objects: 1, ...(quota.bytes !== undefined && { bytes: Buffer.byteLength(object.text) }) };
      const reservation = await usage.reserve(quota, { required: added });
      const created = write(collection, object, maxObjects);
      return committed(reservation, created, added, ({ outcome }) => (outcome === "created" ? added : {}));
    }),
  async replace({ usage, quota }, write, [collection, object, before]) {
    const bytes = quota.bytes === undefined ? 0 : Buffer.byteLength(object.text) - Buffer.byteLength(before.text);
    if (bytes <= 0) {
      const result = await write(collection, object, before);
      if (bytes < 0) usage.freed();
      return result;
    }
    const reservation = await usage.reserve(quota, { required: { bytes } });
    const replaced = write(collection, object, before);
    return committed(reservation, replaced, { bytes }, ({ outcome }) => (outcome === "replaced" ? { bytes } : {}));
  },
  async initialise({ usage }, write, [document, text]) {
    // What a root key begins with its owner wrote: it counts, and is never refused.
    const isStored = await write(document, text);
    if (isStored) usage.added({ bytes: Buffer.byteLength(text), documentKeys: membersIn(text) });
    return isStored;
  },
  insertAt(guard, write, [document, path, text, limits]) {
    const { quota, repeatable } = guard;
    const required = path.length === 1 && quota.documentKeys !== undefined ? { documentKeys: 1 } : {};
    const want = { required, upTo: growth(quota, path, text) };
    return repeatable(document, limits.record, () =>
      written(guard, want, required, ({ bytes }) =>
        write(document, path, text, { ...limits, ...(bytes !== undefined && { maxGrowth: bytes }) }),
      ),
    );
  },
  putAt(guard, write, [document, path, text, limits]) {
    const isCounted = path.length === 0 && guard.quota.documentKeys !== undefined;
    return (isCounted ? putRoot : put)(guard, write, { document, path, text, limits });
  },
  remove: freeing,
  removeUnchanged: freeing,
  removeAt: freeing,
};

function freeing<Args extends readonly unknown[], T>(
  { usage }: Guard,
  write: (...args: Args) => Promise<T>,
  args: Args,
): Promise<T> {
  return write(...args).finally(usage.freed);
}

type AnyRule = (guard: Guard, write: Method, args: readonly unknown[]) => unknown;

interface Guard {
  readonly usage: ProjectUsage;
  readonly quota: ProjectQuota;
  readonly repeatable: RepeatableWrite;
  readonly documentSize: Sizes["documentSize"];
}

export function quotaStore(store: DataStore & Sizes, usage: ProjectUsage, quota: ProjectQuota): DataStore {
  const documentSize: Sizes["documentSize"] = (document) => store.documentSize(document);
  const guard: Guard = { usage, quota, repeatable: createRepeatableWrite(store), documentSize };
  const ruleOf = rules as unknown as Readonly<Partial<Record<string, AnyRule>>>;
  return wrapMethods(store, (name, method) => {
    const rule = ruleOf[name];
    return rule === undefined ? method : (...args) => rule(guard, method, args);
  });
}

/** Each repetition means that others removed members in between. */
const maxAttempts = 10;

type PutAt = DocumentWrites["putAt"];

interface Put {
  readonly document: DocumentRef;
  readonly path: Path;
  readonly text: string;
  readonly limits: PutLimits;
}

/** Only the store knows whether a PUT adds a key. Where no key has room, it must not. */
async function put(guard: Guard, write: PutAt, { document, path, text, limits }: Put): Promise<DocumentWrite> {
  const { usage, quota } = guard;
  const mayAddKey = path.length === 1 && limits.mayCreate && quota.documentKeys !== undefined;
  const upTo = { ...growth(quota, path, text), ...(mayAddKey && { documentKeys: 1 }) };
  let noKeyLeft = false;
  const result = await written(guard, { upTo }, {}, ({ bytes, documentKeys }) => {
    noKeyLeft = mayAddKey && documentKeys === 0;
    const mayCreate = limits.mayCreate && !noKeyLeft;
    return write(document, path, text, {
      ...limits,
      mayCreate,
      ...(bytes !== undefined && { maxGrowth: bytes }),
    });
  });
  if (noKeyLeft && result.outcome === "create_refused") throw usage.refusal(quota, "documentKeys");
  return result;
}

/**
 * A root value is measured by the members that it adds to the stored one. If that one lost some
 * before it is replaced, it is measured again: others may have used their room.
 */
async function putRoot(guard: Guard, write: PutAt, { document, path, text, limits }: Put): Promise<DocumentWrite> {
  const { usage, quota, documentSize } = guard;
  const members = membersIn(text);
  for (let attempt = 1; ; attempt += 1) {
    const added = members - (await documentSize(document)).members;
    const required = { documentKeys: Math.max(0, added) };
    const result = await written(guard, { required, upTo: growth(quota, path, text) }, required, ({ bytes }) =>
      write(document, path, text, {
        ...limits,
        minMembers: members - required.documentKeys,
        ...(bytes !== undefined && { maxGrowth: bytes }),
      }),
    );
    // It may have added less than was reserved for it.
    usage.freed();
    // With an expectation, the caller reads again.
    if (result.outcome !== "changed" || limits.expected !== undefined || attempt === maxAttempts) return result;
  }
}

/**
 * Most bytes that a write adds to a document: its text, the name of a new key, a colon and a comma.
 */
function growth({ bytes }: ProjectQuota, path: Path, text: string): PartialAmounts {
  if (bytes === undefined) return {};
  const name = path.at(-1);
  return { bytes: Buffer.byteLength(text) + (name === undefined ? 0 : Buffer.byteLength(JSON.stringify(name)) + 2) };
}

async function written(
  { usage, quota }: Guard,
  want: Want,
  required: PartialAmounts,
  write: (granted: PartialAmounts) => Promise<DocumentWrite>,
): Promise<DocumentWrite> {
  const reservation = await usage.reserve(quota, want);
  const result = await committed(
    reservation,
    write(reservation.granted),
    { ...required, ...reservation.granted },
    (result) => addedBy(result, required, reservation.granted),
  );
  if (result.outcome === "quota_exceeded") throw usage.refusal(quota, "bytes");
  if ("growth" in result && (result.growth ?? 0) < 0) usage.freed();
  return result;
}

function addedBy(result: DocumentWrite, required: PartialAmounts, granted: PartialAmounts): PartialAmounts {
  if (result.outcome !== "created" && result.outcome !== "replaced") return {};
  const keys = (required.documentKeys ?? 0) + (result.outcome === "created" ? (granted.documentKeys ?? 0) : 0);
  return { bytes: Math.max(0, result.growth ?? 0), documentKeys: keys };
}

/** `possible` is what the write may have added if its outcome is unknown. */
async function committed<T>(
  reservation: Reservation,
  write: Promise<T>,
  possible: PartialAmounts,
  added: (result: T) => PartialAmounts,
): Promise<T> {
  try {
    const result = await write;
    reservation.commit(added(result));
    return result;
  } catch (error) {
    reservation.commit(error instanceof OutcomeUnknown ? possible : {});
    throw error;
  }
}

/**
 * Carries out `write`, which may refuse with 403 `quota_exceeded`. A repetition is never refused
 * because of its first request: it waits for that in this replica, and checks the record of it
 * before a refusal.
 */
type RepeatableWrite = <T>(
  of: CollectionRef | DocumentRef,
  record: IdempotencyRecord | undefined,
  write: () => Promise<T>,
) => Promise<T | Repeated>;

function createRepeatableWrite(store: IdempotencyRecords): RepeatableWrite {
  /** By the record's key. */
  const mutex = createKeyedMutex();
  return async (of, record, write) => {
    if (record === undefined) return write();
    try {
      return await mutex.run(record.key, write);
    } catch (error) {
      const first = isFull(error) ? await store.idempotencyRecord(of, record.key) : undefined;
      if (first === undefined) throw error;
      return { outcome: "repeated", record: first };
    }
  };
}

function isFull(error: unknown): boolean {
  return error instanceof Problem && error.code === "quota_exceeded";
}
