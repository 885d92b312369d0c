// Says what became of a project's stored data with one pass: retained without their object, taken
// over from an earlier namespace, asked to be deleted, ordered to be purged, purged. Pure: entries
// of inventories in, entries of the audit log out.

import type { ProjectRef } from "../../core/config/types.ts";
import type { DataEntry, DataInventory } from "../model/data-inventory.ts";
import type { AuditEntry } from "../observe/audit-log.ts";
import type { FollowedPurge } from "./advance-purges.ts";
import { entryKeyOf } from "./data-plan.ts";
import { requestCause } from "./deletion-requests.ts";

export interface InventoryChange {
  readonly ref: ProjectRef;
  readonly before: DataInventory | undefined;
  readonly after: DataInventory | undefined;
}

/** By the step that wrote the inventory. */
export function inventoryAuditEntries({ ref, before, after }: InventoryChange): readonly AuditEntry[] {
  const former = new Map(before?.entries.map((entry) => [entryKeyOf(entry), entry]));
  return (after?.entries ?? []).flatMap((entry): readonly AuditEntry[] => {
    const was = former.get(entryKeyOf(entry));
    const facts = { ...factsOf(ref, entry), uid: entry.uid };
    if (was !== undefined && was.namespaceUid !== entry.namespaceUid && was.purgeFromRevision === undefined) {
      return [{ action: "data_adopted", facts: { ...facts, formerNamespaceUid: was.namespaceUid } }];
    }
    if (entry.purgeCause === requestCause && was?.purgeFromRevision === undefined) {
      const since = entry.retainedAt !== undefined && { retainedAt: entry.retainedAt };
      return [{ action: "deletion_requested", facts: { ...facts, ...since, why: entry.purgeCause } }];
    }
    return entry.retained === true && was?.retained !== true ? [{ action: "data_retained", facts }] : [];
  });
}

export function purgeEntry(
  action: "purge_ordered" | "purge_done",
  { id, order, deletedUid }: FollowedPurge,
): AuditEntry {
  const why = deletedUid === requestCause ? { why: deletedUid } : { deletedUid };
  const facts = order.what === "sessions" ? { what: order.what } : { what: order.what, name: order.name };
  const { namespace, name } = order.project;
  return { action, facts: { namespace, project: name, ...facts, ...why, purge: id } };
}

function factsOf({ namespace, name }: ProjectRef, entry: DataEntry) {
  return { namespace, project: name, what: entry.what, name: entry.name };
}
