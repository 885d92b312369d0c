// Says which Events the stored data of one Project are worth: they were deleted with their object,
// were kept when it went, or were taken over from an earlier namespace.

import type { EventNote } from "../events/event-recorder.ts";
import type { DataEntry, DataInventory } from "../model/data-inventory.ts";
import type { CustomResource } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { Subject } from "../model/verdict.ts";
import { requestCause } from "../stored-data/deletion-requests.ts";
import { statusEventCatalogue } from "./events-of.ts";

export interface DataEventInput {
  readonly objects: ProjectObjects;
  /** Objects that the watch or a list reported as gone. */
  readonly deleted: readonly CustomResource[];
  /** As it is stored now. */
  readonly inventory: DataInventory | undefined;
  readonly purged: readonly DataEntry[];
  readonly adopted: boolean;
}

export interface DataEvent {
  readonly subject: Subject;
  readonly note: EventNote;
}

export function dataEventsOf({ objects, deleted, inventory, purged, adopted }: DataEventInput): readonly DataEvent[] {
  const { project, resources, rootKeys } = objects;
  const entries = inventory?.entries ?? [];
  const owners: readonly CustomResource[] = [...resources, ...rootKeys, ...deleted];
  const events = purged.flatMap((entry): readonly DataEvent[] => {
    // Where the object went long ago, its Project gets the Event, if there is one.
    const owner = owners.find(({ metadata }) => metadata.uid === entry.uid) ?? project;
    const why =
      entry.purgeCause === requestCause ? "`jsonplane data orphans --delete` asked for" : "deletionPolicy says";
    return owner === undefined ? [] : [event(owner, "DataPurged", `${dataOf(entry)} deleted, as ${why}`)];
  });
  for (const object of deleted) {
    const note = keptNote(object, entries);
    if (note !== undefined) events.push(event(object, "DataRetained", note));
  }
  if (adopted && project !== undefined) {
    events.push(
      event(project, "DataAdopted", "Data that an earlier namespace of this name left belong to this one from now on"),
    );
  }
  return events;
}

function keptNote(object: CustomResource, entries: readonly DataEntry[]): string | undefined {
  const kept = entries.filter(({ purgeFromRevision }) => purgeFromRevision === undefined);
  if (object.kind === "Project") {
    if (kept.length === 0) return undefined;
    return "Its stored data were kept; a Project of the same name in this namespace finds them again";
  }
  const own = kept.find(({ uid }) => uid === object.metadata.uid);
  return own && `${dataOf(own)} kept for the next ${object.kind} of the same name`;
}

function dataOf({ what, name }: DataEntry): string {
  return what === "resource" ? `The stored objects of "${name}" were` : `The stored value of "${name}" was`;
}

function event(
  { kind, metadata: { namespace, name, uid } }: CustomResource,
  reason: "DataPurged" | "DataRetained" | "DataAdopted",
  note: string,
): DataEvent {
  const { type, action } = statusEventCatalogue[reason];
  return { subject: { kind, namespace, name, uid }, note: { type, reason, action, note } };
}
