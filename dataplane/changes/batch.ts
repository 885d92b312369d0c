// Reads some changes of a log with the objects as they are now: one read for all who follow the
// log. Several changes of one object become its last one.

import { idIn } from "../../core/object-id.ts";
import type { Change, ChangeLogs, LoggedRef, LogPosition } from "../store/ports/changes.ts";
import type { ObjectLists } from "../store/ports/lists.ts";
import type { CollectionRef } from "../store/ports/refs.ts";
import { isBefore, laterOf } from "./positions.ts";
import { Rendered } from "./rendered.ts";

/** A change with what is stored now. Its text may be newer: then another change follows. */
export interface SeenChange extends Change {
  /** Of the object; absent where it was deleted, or of a root key. */
  readonly text?: string;
}

export interface Batch {
  readonly outcome: "batch";
  /** The batch begins behind this entry. */
  readonly from: LogPosition;
  /** The last entry of the batch. The same as `from` where there are none. */
  readonly end: LogPosition;
  readonly changes: readonly SeenChange[];
  /** Of all entries, also those of which `changes` has nothing. */
  readonly positions: ReadonlySet<LogPosition>;
  /** The newest entry once the texts were read: they may have its effect. */
  readonly seen: LogPosition;
  /** Characters of the texts. */
  readonly length: number;
  /** Moments of the feed, at which the read began and ended. */
  readonly began: number;
  readonly ended: number;
  readonly rendered: Rendered;
}

/** The changes and texts of a batch, without the times. */
export type BatchContent = Omit<Batch, "began" | "ended">;

export type BatchRead = Batch | { readonly outcome: "expired" | "lost" };

export type BatchStore = Pick<ChangeLogs, "changesAfter" | "newestChange"> & Pick<ObjectLists, "readObjects">;

const changesPerBatch = 500;
/** An object may be larger; then it is alone in its batch. */
export const charactersPerBatch = 1024 * 1024;

/** Throws as the store does. */
export async function readBatch(
  store: BatchStore,
  of: LoggedRef,
  from: LogPosition,
): Promise<BatchContent | Exclude<BatchRead, Batch>> {
  const read = await store.changesAfter(of, from, changesPerBatch);
  if (read.outcome !== "changes") return read;
  const last = read.changes.at(-1);
  const positions = new Set(read.changes.map(({ position }) => position));
  if (last === undefined || !("resource" in of)) {
    const end = last?.position ?? from;
    const changes = last === undefined ? [] : [last];
    return { outcome: "batch", from, end, changes, length: 0, positions, seen: end, rendered: new Rendered(0) };
  }
  const { end, changes, length } = await withTexts(store, of, from, lastOfEach(read.changes));
  const seen = laterOf(end, await store.newestChange(of));
  return { outcome: "batch", from, end, changes, length, positions, seen, rendered: new Rendered(length) };
}

/** Whether a failover has lost an entry whose effect the client has seen. */
export function lacksSeen(
  { end, positions }: Batch,
  { position, seen }: { readonly position: LogPosition; readonly seen: LogPosition },
): boolean {
  return isBefore(position, seen) && !isBefore(end, seen) && !positions.has(seen);
}

/** In the order of the log, without entries that say nothing of an object. */
function lastOfEach(changes: readonly Change[]): readonly Change[] {
  const places = new Map(changes.map(({ id }, place) => [id, place]));
  return changes.filter(({ id }, place) => places.get(id) === place);
}

async function withTexts(
  store: BatchStore,
  collection: CollectionRef,
  from: LogPosition,
  changes: readonly Change[],
): Promise<Pick<Batch, "end" | "changes" | "length">> {
  const wanted = changes.filter(({ kind }) => kind === "put").map(({ id }) => id);
  const texts = new Map<string, string>();
  let length = 0;
  let lastRead: string | undefined;
  for await (const some of store.readObjects(collection, wanted)) {
    for (const text of some) {
      lastRead = idIn(text);
      texts.set(lastRead, text);
      length += text.length;
    }
    if (length >= charactersPerBatch) break;
    lastRead = undefined;
  }
  // The next batch has what was not read, and all changes behind it.
  const place = lastRead === undefined ? -1 : changes.findIndex(({ id }) => id === lastRead);
  const complete = place < 0 ? changes : changes.slice(0, place + 1);
  const seen = complete.flatMap((change): readonly SeenChange[] => {
    if (change.kind === "delete") return [change];
    const text = change.kind === "put" ? texts.get(change.id) : undefined;
    // An object that is gone by now has a later change, which says so.
    return text === undefined ? [] : [{ ...change, text }];
  });
  return { end: complete.at(-1)?.position ?? from, changes: seen, length };
}
