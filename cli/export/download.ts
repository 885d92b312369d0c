// Asks a service for an export, and for the rest where it breaks off, until all is there. Each
// complete answer is checked by its checksum. Throws ServiceRefused where the service refuses, or
// the answer is no export; ServerAway after several attempts that brought nothing.

import { type ErrorCode, errorCatalogue } from "../../core/errors/catalogue.ts";
import { isRetryable } from "../../core/http/event-stream.ts";
import { ExportFault, ExportReader } from "../../core/transfer/export-reader.ts";
import { type ExportEnd, type ExportHead, exportMediaType } from "../../core/transfer/lines.ts";
import { type Patience, pauseMs } from "../service/patiently.ts";
import { reasonOf, requireType, ServerAway, type Service, ServiceRefused } from "../service/service.ts";
import type { GrowingExport } from "./growing-export.ts";

export interface DownloadDeps extends Omit<Patience, "attempts"> {
  readonly service: Pick<Service, "read">;
  /** Resolves once there is room for more. */
  readonly write: (bytes: Buffer) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** A line has one object or value, which has 8 MiB at most. */
export const readerLimits = { maxLineBytes: 16 * 1024 * 1024, maxDepth: 64 } as const;
const maxAttempts = 8;

/** `url` = that of the whole export. */
export async function download(deps: DownloadDeps, url: URL, file: GrowingExport): Promise<void> {
  let failures = 0;
  for (;;) {
    const before = file.lines;
    try {
      const { position } = await readAnswer(deps, restOf(url, file), file);
      await deps.write(file.end(position));
      return;
    } catch (error) {
      const away = awayOrThrow(error);
      deps.signal?.throwIfAborted();
      failures = file.lines > before ? 1 : failures + 1;
      if (failures >= maxAttempts) throw away;
      deps.note(`${away.message}; going on with the rest`);
      await deps.pause(pauseMs(failures, away));
    }
  }
}

/** An export of what has changed is asked for again: its lines have no order to go on in. */
function restOf(url: URL, { head, place }: GrowingExport): URL {
  const rest = new URL(url);
  if (place === undefined || head?.since !== undefined) return rest;
  rest.searchParams.set("_after", `${place.resource}/${place.id}`);
  if (head?.position !== undefined) rest.searchParams.set("_position", head.position);
  return rest;
}

async function readAnswer({ service, write }: DownloadDeps, url: URL, file: GrowingExport): Promise<ExportEnd> {
  const response = await service.read(url, { Accept: exportMediaType });
  requireType(response, url, exportMediaType, "an export");
  const reader = new ExportReader(readerLimits);
  let isBegun = false;
  for await (const piece of piecesOf(response.body ?? [])) {
    const items = reader.push(piece).map(({ item }) => item);
    if (!isBegun && reader.head !== undefined) {
      requireAsked(url, reader.head);
      requireSame(file, reader.head);
      for (const bytes of file.begin(reader.head)) await write(bytes);
      isBegun = true;
    }
    if (items.length > 0) await write(file.add(items));
  }
  return reader.finish().end;
}

async function* piecesOf(body: AsyncIterable<Uint8Array> | readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw new ServerAway(`The export broke off${reasonOf(cause)}`, { cause });
  }
}

/** What is taken for one owner's may be deleted. */
function requireAsked({ searchParams }: URL, { owner, since }: ExportHead): void {
  const isAsked =
    (owner ?? null) === searchParams.get("_owner") && (since !== undefined) === searchParams.has("_since");
  if (isAsked) return;
  const what = `${owner === undefined ? "all owners" : `the owner ${owner}`}${since === undefined ? "" : " since a position"}`;
  throw new ServiceRefused(`The answer is another export than the one asked for: that of ${what}`);
}

/** Resources and root keys may have come or gone between two answers. */
function requireSame({ head: first }: GrowingExport, head: ExportHead): void {
  if (first === undefined) return;
  if (first.projectUid !== head.projectUid) {
    throw new ServiceRefused(
      "The rest of the export is of another project than its beginning: check URL, or begin again",
    );
  }
  const partsOf = ({ resources, rootKeys, owner, since }: typeof head) =>
    JSON.stringify([resources, rootKeys, owner, since]);
  if (partsOf(first) === partsOf(head)) return;
  throw new ServiceRefused("The rest of the export has other resources or root keys than its beginning: begin again");
}

/** Of what breaks an export off, anything that may be otherwise soon. */
function awayOrThrow(error: unknown): ServerAway {
  if (error instanceof ServerAway) return error;
  if (!(error instanceof ExportFault)) throw error;
  const known = error.code === undefined ? undefined : errorCatalogue[error.code as ErrorCode];
  const isCut = error.code === undefined && error.isCut;
  if (isCut || (known !== undefined && isRetryable(known.status)))
    return new ServerAway(error.reason, { cause: error });
  const message = error.code === undefined ? `The answer is no complete export: ${error.message}` : error.reason;
  throw new ServiceRefused(message, { cause: error });
}
