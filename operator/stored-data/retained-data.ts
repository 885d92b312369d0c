// Plans what becomes of data that a project has and does not serve, once it is known what it
// serves: since when they are retained, and which of them are deleted on request. Pure. Data that
// are served, or that an existing object names, are left alone.

import type { CompiledProject } from "../../core/config/types.ts";
import type { DataEntry, DataInventory } from "../model/data-inventory.ts";
import { resourceNameOf, rootKeyOf } from "../model/kinds.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import { type DataEvaluation, entryKeyOf, openPurges, storingEntries } from "./data-plan.ts";
import { type DeletionRequest, isMeant, requestCause } from "./deletion-requests.ts";

export interface RetainedInput {
  readonly objects: ProjectObjects;
  /** What is published from now on; absent = nothing. */
  readonly config?: CompiledProject | undefined;
  /** Absent when there is no namespace any more. */
  readonly namespaceUid?: string | undefined;
  readonly requests: readonly DeletionRequest[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** The evaluation, with what is retained and what is to be purged in its inventory. */
export function planRetainedData(data: DataEvaluation, input: RetainedInput): DataEvaluation {
  if (data.inventory === undefined) return data;
  const inventory = withRetained(data.inventory, input);
  return { ...data, inventory, openPurges: openPurges(inventory) };
}

export function withRetained(inventory: DataInventory, input: RetainedInput): DataInventory {
  const served = entryKeysOf(input.config);
  const claimed = claimedKeys(input.objects);
  // Data retained from now on are dated after every pending request, so that clock skew lets no
  // older request delete them.
  const since = Math.max(input.now, ...input.requests.map(({ until }) => until + 1));
  const requestFor = requestsByData(input.requests.filter(({ until }) => until <= input.now));
  const isGuarded = (entry: DataEntry): boolean =>
    (input.namespaceUid === undefined || entry.namespaceUid === input.namespaceUid) && claimed.has(entryKeyOf(entry));
  const entries = inventory.entries.map((entry): DataEntry => {
    if (served.has(entryKeyOf(entry)) || entry.purgeFromRevision !== undefined) return entry;
    const retained = dated(entry, { isGuarded: isGuarded(entry), since });
    const isRequested = retained.guarded !== true && requestFor(retained) !== undefined;
    return isRequested ? { ...retained, purgeFromRevision: 0, purgeCause: requestCause } : retained;
  });
  return { ...inventory, entries };
}

interface Dating {
  readonly isGuarded: boolean;
  /** The time of data that are retained from now on. */
  readonly since: number;
}

/** While an object claims the name, the data belong to it. Afterwards only a policy keeps them. */
function dated({ guarded, ...entry }: DataEntry, { isGuarded, since }: Dating): DataEntry {
  const isFreed = guarded === true && !isGuarded;
  const begins = isFreed || entry.retainedAt === undefined;
  return {
    ...entry,
    ...(begins && { retainedAt: new Date(since).toISOString() }),
    ...(isGuarded && { guarded: true }),
  };
}

/** The inventory of a project that is served here no more, whatever Project has its name now. */
export function retainedFrom(inventory: DataInventory, now: number): DataInventory {
  const objects = { ref: { namespace: "", name: "" }, resources: [], rootKeys: [], users: [], keys: [] };
  return withRetained(inventory, { objects, requests: [], now });
}

/**
 * Places that objects name, served or not: data of this namespace wait there for their object to be
 * mended, or for its Project.
 */
function claimedKeys({ resources, rootKeys }: ProjectObjects): ReadonlySet<string> {
  return new Set([
    ...resources.map((object) => entryKeyOf({ what: "resource", name: resourceNameOf(object) })),
    ...rootKeys.map((object) => entryKeyOf({ what: "rootkey", name: rootKeyOf(object) })),
  ]);
}

/** Keeps only the latest request of each name, so that thousands cost no more than one. */
function requestsByData(requests: readonly DeletionRequest[]): (entry: DataEntry) => DeletionRequest | undefined {
  const latest = new Map<string, DeletionRequest>();
  for (const request of requests) {
    const named = request.data === undefined ? "" : entryKeyOf(request.data);
    if (request.until >= (latest.get(named)?.until ?? Number.NEGATIVE_INFINITY)) latest.set(named, request);
  }
  return (entry) =>
    [latest.get(entryKeyOf(entry)), latest.get("")].find((request) => request !== undefined && isMeant(entry, request));
}

function entryKeysOf(config: CompiledProject | undefined): ReadonlySet<string> {
  return new Set(config === undefined ? [] : storingEntries(config).map(entryKeyOf));
}
