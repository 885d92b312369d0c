// Settles what becomes of data that a project has and does not serve, once it is known what it serves: since when they are kept, how much they
// are, and which of them are deleted because somebody asked for it. Pure. What is served is never touched, nor what an object names that is there.

import type { KeptSize } from "../../core/config/data-order.ts";
import type { ProjectParts } from "../../core/config/types.ts";
import { resourceNameOf, rootKeyOf } from "../claimed-name.ts";
import type { DataEntry, DataRecord } from "../data-record.ts";
import type { ProjectObjects } from "../project-objects.ts";
import { type DataJudgement, dataParts, openPurges, placeOf } from "./data-plan.ts";
import { type DeletionRequest, isMeant } from "./deletion-requests.ts";

export interface KeptInput {
  readonly objects: ProjectObjects;
  /** As it stood before. */
  readonly previous?: DataRecord | undefined;
  /** What is published from now on; absent = nothing. */
  readonly parts?: ProjectParts | undefined;
  /** Absent when there is no namespace any more. */
  readonly namespaceUid?: string | undefined;
  readonly requests: readonly DeletionRequest[];
  /** By place: what replicas have measured. */
  readonly sizes: ReadonlyMap<string, KeptSize>;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The judgement, with what is kept and what is to be purged in its record. */
export function settleKept(data: DataJudgement, input: KeptInput): DataJudgement {
  if (data.record === undefined) return data;
  const record = withKept(data.record, input);
  return { ...data, record, openPurges: openPurges(record) };
}

export function withKept(record: DataRecord, input: KeptInput): DataRecord {
  const served = placesOf(input.parts);
  const undated = undatedPlaces(input.previous);
  const claimed = claimedPlaces(input.objects);
  // What is asked by now was asked before these data were kept, whatever the clocks of people and of earlier leaders say.
  const since = Math.max(input.now, ...input.requests.map(({ until }) => until + 1));
  const entries = record.entries.map((entry): DataEntry => {
    const place = placeOf(entry);
    if (served.has(place) || entry.doomedAt !== undefined) return entry;
    const size = entry.size ?? input.sizes.get(place);
    const kept: DataEntry = {
      ...entry,
      ...(entry.retainedAt === undefined && !undated.has(place) && { retainedAt: new Date(since).toISOString() }),
      ...(size !== undefined && { size }),
    };
    const isOwn = input.namespaceUid === undefined || entry.namespaceUid === input.namespaceUid;
    if (isOwn && claimed.has(place)) return kept;
    const request = input.requests.find((each) => each.until <= input.now && isMeant(kept, each));
    return request === undefined ? kept : { ...kept, doomedAt: 0, doomedBy: request.place };
  });
  return { ...record, entries };
}

/** The record of a project that is served here no more, whoever has its name now. */
export function keptFrom(record: DataRecord, now: number): DataRecord {
  const objects = { ref: { namespace: "", name: "" }, resources: [], rootKeys: [], users: [], keys: [] };
  return withKept(record, { objects, previous: record, requests: [], sizes: new Map(), now });
}

/** Places that objects name, served or not: data of this namespace wait there for their object to be mended, or for its Project. */
export function claimedPlaces({ resources, rootKeys }: ProjectObjects): ReadonlySet<string> {
  return new Set([
    ...resources.map((object) => placeOf({ what: "resource", name: resourceNameOf(object) })),
    ...rootKeys.map((object) => placeOf({ what: "rootkey", name: rootKeyOf(object) })),
  ]);
}

/** What an operator of an earlier version kept: nobody knows since when. Whatever is found to be kept now has a time. */
function undatedPlaces(previous: DataRecord | undefined): ReadonlySet<string> {
  const undated = (previous?.entries ?? []).filter(({ retained, retainedAt }) => retained && retainedAt === undefined);
  return new Set(undated.map(placeOf));
}

function placesOf(parts: ProjectParts | undefined): ReadonlySet<string> {
  return new Set(parts === undefined ? [] : dataParts(parts).map(placeOf));
}
