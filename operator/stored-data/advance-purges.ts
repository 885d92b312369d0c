// Advances the purges of a project's data, and of the sessions of deleted Projects, from one pass
// to the next: ordered once no replica serves them any more, struck off the inventory once a
// replica has removed them. A pass may be interrupted anywhere. The entry is removed last, so the
// next pass repeats the step, and until then the name isn't served.

import type { PurgeOrder } from "../../core/config/purge-order.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { DataEntry, DataInventory, DeletedProject } from "../model/data-inventory.ts";
import type { RolloutState } from "../publish/acknowledgements.ts";
import type { Purges } from "../publish/purges.ts";

/** What the deletion of an object's data waits for. */
export type PurgeWait = "replicas" | "no_replicas" | "purge";

/**
 * What an object that is being deleted waits for: its data, or a finalizer that this operator has
 * no right to take away.
 */
export type DeletionWait = PurgeWait | "rights";

export interface PurgeInput {
  readonly ref: ProjectRef;
  /** As it is stored: an entry whose purge was decided with this very publish has its revision. */
  readonly inventory: DataInventory;
  readonly rolloutOf: (revision: number) => RolloutState;
  readonly purges: Purges;
  /**
   * Called once with each order that is given, and with each that is completed. May repeat for a
   * completed order if the pass is interrupted.
   */
  readonly observe: (action: "purge_ordered" | "purge_done", purge: FollowedPurge) => void;
}

/** An order, and what it is for. */
export interface FollowedPurge {
  readonly id: string;
  readonly order: PurgeOrder;
  /**
   * UID of the object or Project whose deletion brought it, or which annotation did
   * (deletion-requests.ts).
   */
  readonly deletedUid: string;
}

export interface PurgeOutcome {
  /**
   * What remains; to be stored, when it is another one, before anything is reported of what was
   * purged.
   */
  readonly inventory: DataInventory;
  readonly purged: readonly DataEntry[];
  /** What each of the others waits for, by UID of the object that it belonged to. */
  readonly waiting: ReadonlyMap<string, PurgeWait>;
  /** What the Project as a whole waits for. */
  readonly waitingFor?: PurgeWait;
  /** Sessions are being purged. No object and no name waits for that. */
  readonly purgesSessions: boolean;
}

/**
 * The same on every attempt; another one when the data of the same object are to be purged a second
 * time.
 */
export function purgeId({ uid, purgeFromRevision = 0 }: Pick<DataEntry, "uid" | "purgeFromRevision">): string {
  return `${uid}:${purgeFromRevision}`;
}

/** Which purges of the inventory have been ordered: theirs can't be released any more. */
export async function orderedPurges(
  inventory: DataInventory | undefined,
  purges: Purges,
): Promise<ReadonlySet<string>> {
  const ids = [...pendingPurgesOf(inventory?.entries ?? []), ...(inventory?.deletedProjects ?? [])].map(purgeId);
  const ordered = await Promise.all(ids.map((id) => purges.isOrdered(id)));
  return new Set(ids.filter((_, position) => ordered[position]));
}

export async function advancePurges({ inventory, ...input }: PurgeInput): Promise<PurgeOutcome> {
  const purged = new Set<DataEntry>();
  const waiting = new Map<string, PurgeWait>();
  for (const entry of pendingPurgesOf(inventory.entries)) {
    const wait = await follow(entry, { what: entry.what, project: input.ref, name: entry.name }, input);
    if (wait === "done") purged.add(entry);
    else waiting.set(entry.uid, wait);
  }
  const { left, purgesSessions } = await purgeSessions(inventory.deletedProjects ?? [], input);
  const waits = new Set(waiting.values());
  const waitingFor = waitOrder.find((wait) => waits.has(wait));
  return {
    inventory: remaining(inventory, purged, left),
    purged: [...purged],
    waiting,
    ...(waitingFor !== undefined && { waitingFor }),
    purgesSessions,
  };
}

/** The inventory itself when nothing has been purged. */
function remaining(
  inventory: DataInventory,
  purged: ReadonlySet<DataEntry>,
  left: readonly DeletedProject[],
): DataInventory {
  const { deletedProjects = [], ...rest } = inventory;
  if (purged.size === 0 && left.length === deletedProjects.length) return inventory;
  const entries = rest.entries.filter((entry) => !purged.has(entry));
  return { ...rest, entries, ...(left.length > 0 && { deletedProjects: left }) };
}

/** What a person can do something about comes first. */
const waitOrder: readonly PurgeWait[] = ["no_replicas", "replicas", "purge"];

type Following = Omit<PurgeInput, "inventory">;

async function purgeSessions(deletedProjects: readonly DeletedProject[], input: Following) {
  const left: DeletedProject[] = [];
  let purgesSessions = false;
  for (const each of deletedProjects) {
    const wait = await follow(each, { what: "sessions", project: input.ref, projectUid: each.uid }, input);
    if (wait !== "done") left.push(each);
    purgesSessions ||= wait === "purge";
  }
  return { left, purgesSessions };
}

async function follow(
  pending: Pick<DataEntry, "uid" | "purgeFromRevision" | "purgeCause">,
  order: PurgeOrder,
  { rolloutOf, purges, observe }: Following,
): Promise<PurgeWait | "done"> {
  const id = purgeId(pending);
  const purge = { id, order, deletedUid: pending.purgeCause ?? pending.uid };
  if (await purges.isDone(id)) {
    // Before the inventory is written: were it the other way round, a crash between both would
    // leave the order for ever. An order that was forgotten while the entry still stands is given
    // again, and finds nothing to remove.
    await purges.forget(id);
    observe("purge_done", purge);
    return "done";
  }
  const { purgeFromRevision = 0 } = pending;
  // Not stored yet: no replica can know of it.
  const rollout = purgeFromRevision === 0 ? "waiting" : rolloutOf(purgeFromRevision);
  if (rollout === "no_replicas") return "no_replicas";
  if (await purges.isOrdered(id)) return "purge";
  if (rollout === "waiting") return "replicas";
  await purges.order(id, order);
  observe("purge_ordered", purge);
  return "purge";
}

function pendingPurgesOf(entries: readonly DataEntry[]): readonly DataEntry[] {
  return entries.filter((entry) => entry.purgeFromRevision !== undefined);
}
