// Reads the export of what one owner has made, once: which objects there are. Throws as service.ts
// does; an export that broke off counts as a server that is away.

import { ExportFault, ExportReader, readExport } from "../../core/transfer/export-reader.ts";
import { type ExportItem, exportMediaType } from "../../core/transfer/lines.ts";
import { idIn } from "../../dataplane/store/ports/objects.ts";
import { readerLimits } from "../export/download.ts";
import { reasonOf, ServerAway, type Service, ServiceRefused } from "../service/service.ts";
import type { ExportedFile } from "./exported-file.ts";

/** The ids of objects, by resource; each resource that was searched is there. */
export type OwnedObjects = ReadonlyMap<string, ReadonlySet<string>>;

/** What is exported is also written into the file. */
export async function readOwnedObjects(
  service: Service,
  { base, owner }: { readonly base: string; readonly owner: string },
  file?: Pick<ExportedFile, "begin" | "write">,
): Promise<OwnedObjects> {
  const url = new URL(`${base}/export?_owner=${encodeURIComponent(owner)}`);
  const { body } = await service.read(url, { Accept: exportMediaType });
  const reader = new ExportReader(readerLimits);
  const found = new Map<string, Set<string>>();
  await file?.begin();
  try {
    for await (const items of readExport(reader, writtenInto(file, body))) {
      for (const { item } of items) take(found, item);
    }
  } catch (cause) {
    if (cause instanceof ServiceRefused) throw cause;
    const reason = cause instanceof ExportFault ? ` (${cause.message})` : reasonOf(cause);
    throw new ServerAway(`${url.origin}${url.pathname} broke off${reason}`, { cause });
  }
  for (const resource of reader.head?.resources ?? []) setOf(found, resource);
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

async function* writtenInto(
  file: Pick<ExportedFile, "write"> | undefined,
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of body ?? []) {
    await file?.write(bytes);
    yield bytes;
  }
}
