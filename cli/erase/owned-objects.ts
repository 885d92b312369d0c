// Which objects one owner has made, from an export of them. Throws as download.ts does.

import { idIn } from "../../core/object-id.ts";
import type { ExportItem } from "../../core/transfer/lines.ts";
import { type DownloadDeps, download } from "../export/download.ts";
import { GrowingExport } from "../export/growing-export.ts";

/** The ids of objects, by resource; each resource that was searched is there. */
export type OwnedObjects = ReadonlyMap<string, ReadonlySet<string>>;

export async function readOwnedObjects(
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
