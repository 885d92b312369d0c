// Finds all objects of one owner, and deletes them once that is confirmed, until there are none
// left: what the owner creates meanwhile is found when they are searched again. Each is deleted as
// by any other client. Throws as service.ts does.

import { mapLimited } from "../../core/map-limited.ts";
import { idIn } from "../../core/object-id.ts";
import type { ExportItem } from "../../core/transfer/lines.ts";
import { type DownloadDeps, download } from "../export/download.ts";
import { GrowingExport } from "../export/growing-export.ts";
import type { PartFile } from "../export/part-file.ts";
import { patiently } from "../service/patiently.ts";
import { type Service, ServiceRefused } from "../service/service.ts";
import { linesOfNotCovered } from "./not-covered.ts";

export interface EraseDeps extends Pick<DownloadDeps, "pause" | "note" | "signal"> {
  readonly service: Service;
  readonly out: (line: string) => void;
  /** Gets what is found first; absent = nobody wants it. */
  readonly file?: Pick<PartFile, "write" | "complete"> | undefined;
  /** Undefined = there is nobody to ask. */
  readonly confirmed: (question: string) => Promise<boolean | undefined>;
}

export interface EraseOptions {
  /** Base URL of the project, without a slash at its end. */
  readonly base: string;
  /** `<creator_type>:<creator>`. */
  readonly owner: string;
}

/** Deletes under way at the same time, of a project's share of a replica. */
const concurrency = 4;

/** Resolves with the exit code: 1 where objects are left that can't be deleted. */
export async function erase(deps: EraseDeps, options: EraseOptions): Promise<number> {
  const { service, out, file } = deps;
  const { base, owner } = options;
  const found = await readOwnedObjects({ ...deps, write: file?.write ?? leftOut }, options);
  await file?.complete();
  const count = countOf(found);
  out(`${owner} has created ${objects(count)}${count === 0 ? "" : `: ${listed(found)}`}`);
  const uncovered = await linesOfNotCovered(service, base, new Set(found.keys()));
  for (const each of uncovered) out(`Not covered: ${each}`);
  if (count === 0) return 0;
  const isConfirmed = await deps.confirmed(`Delete ${objects(count)} of ${owner}`);
  if (isConfirmed !== true) {
    out(`Nothing was deleted${isConfirmed === undefined ? "; add --yes to delete" : ""}`);
    return 0;
  }
  return await deleteUntilNone(deps, options, found);
}

const leftOut = async (): Promise<void> => undefined;

async function deleteUntilNone(deps: EraseDeps, options: EraseOptions, found: OwnedObjects): Promise<number> {
  const { service, out } = deps;
  const { base, owner } = options;
  const refused = new Map<string, string>();
  const deleted = new Map<string, number>();
  const remove = async (resource: string, id: string): Promise<void> => {
    if (refused.has(resource)) return;
    try {
      const object = new URL(`${base}/api/${encodeURIComponent(resource)}/${id}`);
      if (await patiently(() => service.remove(object))) deleted.set(resource, (deleted.get(resource) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof ServiceRefused) || error.status !== 403) throw error;
      refused.set(resource, error.message);
    }
  };
  let left = found;
  for (;;) {
    for (const [resource, ids] of left) await mapLimited([...ids], concurrency, (id) => remove(resource, id));
    left = await readOwnedObjects({ ...deps, write: leftOut }, options);
    const isOver = [...left].every(([resource, ids]) => ids.size === 0 || refused.has(resource));
    if (isOver) break;
    out(`${owner} has created more meanwhile: ${listed(left)}`);
  }
  out(`Deleted ${objects(sum(deleted.values()))}${deleted.size === 0 ? "" : `: ${figures(deleted)}`}`);
  for (const [resource, why] of refused) out(`Left: ${left.get(resource)?.size ?? 0} of ${resource}, because ${why}`);
  return countOf(left) === 0 ? 0 : 1;
}

function listed(owned: OwnedObjects): string {
  return figures(new Map([...owned].map(([resource, ids]) => [resource, ids.size])));
}

function figures(counts: ReadonlyMap<string, number>): string {
  const some = [...counts].filter(([, count]) => count > 0);
  return some.map(([resource, count]) => `${count} of ${resource}`).join(", ");
}

function countOf(owned: OwnedObjects): number {
  return sum([...owned.values()].map(({ size }) => size));
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, each) => total + each, 0);
}

function objects(count: number): string {
  return count === 1 ? "1 object" : `${count} objects`;
}

/** The ids of objects, by resource; each resource that was searched is there. */
type OwnedObjects = ReadonlyMap<string, ReadonlySet<string>>;

/** From an export of them. Throws as download.ts does. */
async function readOwnedObjects(
  deps: DownloadDeps,
  { base, owner }: { readonly base: string; readonly owner: string },
): Promise<OwnedObjects> {
  const found = new Map<string, Set<string>>();
  const file = new GrowingExport((items) => {
    for (const item of items) take(found, item);
  });
  await download(deps, new URL(`${base}/export?_owner=${encodeURIComponent(owner)}`), file);
  for (const resource of file.head?.resources ?? []) setOf(found, resource);
  return found;
}

/** Later lines count in place of earlier ones. */
function take(found: Map<string, Set<string>>, item: ExportItem): void {
  if (item.kind === "object") setOf(found, item.resource).add(idIn(item.text));
  if (item.kind === "deleted") setOf(found, item.resource).delete(item.id);
}

function setOf(found: Map<string, Set<string>>, resource: string): Set<string> {
  const known = found.get(resource) ?? new Set();
  found.set(resource, known);
  return known;
}
