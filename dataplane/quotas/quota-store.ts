// A store that writes of a project with a quota go through: reserves room before each write that adds something, and gives back
// what the write did not use. Whatever writes, it can't be gone round. Refuses with 403 `quota_exceeded`.

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
    return (isCounted ? putWhole : put)(guard, write, { document, path, text, limits });
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

/** A PUT that may add a key is carried out as one that may not where no key has room: only the store knows which it is. */
async function put(guard: Guard, write: PutAt, { document, path, text, limits }: Put): Promise<DocumentWrite> {
  const { usage, quota } = guard;
  const mayAddKey = path.length === 1 && limits.mayCreate && quota.documentKeys !== undefined;
  const upTo = { ...growth(quota, path, text), ...(mayAddKey && { documentKeys: 1 }) };
  let lacksKey = false;
  const result = await written(guard, { upTo }, {}, ({ bytes, documentKeys }) => {
    lacksKey = mayAddKey && documentKeys === 0;
    const mayCreate = limits.mayCreate && !lacksKey;
    return write(document, path, text, {
      ...limits,
      mayCreate,
      ...(bytes !== undefined && { maxGrowth: bytes }),
    });
  });
  if (lacksKey && result.outcome === "create_refused") throw usage.refusal(quota, "documentKeys");
  return result;
}

/**
 * A whole value is measured by what it adds to the members of the one that it replaces. Should that one have lost some when the store
 * comes to replace it, it is measured again: what was lost may be other root keys' by now.
 */
async function putWhole(guard: Guard, write: PutAt, { document, path, text, limits }: Put): Promise<DocumentWrite> {
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

/** The most bytes by which a write makes a document longer: its text, the name of a new key, a colon and a comma. */
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

/** `possible` is what the write added where its outcome is unknown; the next look at the store finds out. */
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
 * Carries out `write`, which may refuse with 403 `quota_exceeded`. A repetition is never refused because of what its first
 * request wrote: it waits for the first when both are under way in this replica, and before it is refused it looks for the record that
 * the first left, wherever that was written.
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
