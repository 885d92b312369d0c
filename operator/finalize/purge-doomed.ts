// Follows the purge of a project's doomed data from one pass to the next: ordered once no replica serves them any more, struck
// off the record once a replica has removed them. It may be cut off anywhere: an entry leaves the record last, so that a pass
// which was cut off is made again, and until then nobody is served under that name.

import type { ProjectRef } from "../../core/config/types.ts";
import type { DataEntry, DataRecord } from "../data-record.ts";
import type { Reach } from "../publish/acknowledgements.ts";
import type { Purges } from "../publish/purges.ts";

/** What the deletion of an object's data waits for. */
export type PurgeWait = "replicas" | "no_replicas" | "purge";

/** What an object on its way out waits for: its data, or a finalizer that this operator has no right to take away. */
export type EndWait = PurgeWait | "rights";

export interface PurgeInput {
  readonly ref: ProjectRef;
  /** As it is stored: an entry that was doomed with this very publish has its revision. */
  readonly record: DataRecord;
  readonly reachOf: (revision: number) => Reach;
  readonly purges: Purges;
}

export interface PurgeOutcome {
  /** What remains; to be stored, when `purged` isn't empty, before anything is said of them. */
  readonly record: DataRecord;
  readonly purged: readonly DataEntry[];
  /** What each of the others waits for, by UID of the object that it belonged to. */
  readonly waiting: ReadonlyMap<string, PurgeWait>;
  /** What the Project as a whole waits for. */
  readonly waitingFor?: PurgeWait;
}

/** The same on every attempt; another one when the data of the same object are doomed a second time. */
export function purgeId({ uid, doomedAt = 0 }: DataEntry): string {
  return `${uid}:${doomedAt}`;
}

/** Which purges of the record have been ordered: theirs can't be released any more. */
export async function orderedPurges(record: DataRecord | undefined, purges: Purges): Promise<ReadonlySet<string>> {
  const ids = doomedOf(record?.entries ?? []).map(purgeId);
  const ordered = await Promise.all(ids.map((id) => purges.isOrdered(id)));
  return new Set(ids.filter((_, position) => ordered[position]));
}

/**
 * Without a record, no name is held back for a purge that was ordered: whoever takes one would lose what is written from then
 * on. An order whose record was removed by hand is taken back before anything is served.
 */
export async function forgetUnrecorded(ref: ProjectRef, record: DataRecord | undefined, purges: Purges): Promise<void> {
  if (record !== undefined) return;
  for (const id of await purges.ordered(ref)) await purges.forget(id);
}

export async function purgeDoomed({ ref, record, reachOf, purges }: PurgeInput): Promise<PurgeOutcome> {
  const purged = new Set<DataEntry>();
  const waiting = new Map<string, PurgeWait>();
  for (const entry of doomedOf(record.entries)) {
    const wait = await follow(entry, { ref, reachOf, purges });
    if (wait === "done") purged.add(entry);
    else waiting.set(entry.uid, wait);
  }
  const waits = new Set(waiting.values());
  const waitingFor = order.find((wait) => waits.has(wait));
  return {
    record: { ...record, entries: record.entries.filter((entry) => !purged.has(entry)) },
    purged: [...purged],
    waiting,
    ...(waitingFor !== undefined && { waitingFor }),
  };
}

/** What a person can do something about comes first. */
const order: readonly PurgeWait[] = ["no_replicas", "replicas", "purge"];

async function follow(
  entry: DataEntry,
  { ref, reachOf, purges }: Omit<PurgeInput, "record">,
): Promise<PurgeWait | "done"> {
  const id = purgeId(entry);
  if (await purges.isDone(id)) {
    // Before the record is written: were it the other way round, a crash between both would leave the order for ever. An
    // order that was forgotten while the entry still stands is given again, and finds nothing to remove.
    await purges.forget(id);
    return "done";
  }
  const { doomedAt = 0 } = entry;
  // Not stored yet: no replica can have heard of it.
  const reach = doomedAt === 0 ? "waiting" : reachOf(doomedAt);
  if (reach === "no_replicas") return "no_replicas";
  if (reach === "waiting") return (await purges.isOrdered(id)) ? "purge" : "replicas";
  await purges.order(id, { what: entry.what, project: ref, name: entry.name });
  return "purge";
}

function doomedOf(entries: readonly DataEntry[]): readonly DataEntry[] {
  return entries.filter((entry) => entry.doomedAt !== undefined);
}
