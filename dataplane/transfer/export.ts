// Answers a request for an export: finds where the logs of changes are, then sends its lines while
// they are read, as fast as the client takes them. Once its head was sent, an export that can't go
// on ends with a line that says why.

import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { createGzip, constants as zlib } from "node:zlib";
import Negotiator from "negotiator";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import { problemResponse } from "../../core/http/problem-response.ts";
import { errorLine, exportMediaType } from "../../core/transfer/lines.ts";
import type { UnreadRoom } from "../changes/unread-room.ts";
import type { HttpResponse } from "../http/exchange.ts";
import { exportLines, type LinesDeps } from "./export-lines.ts";
import { startsOf } from "./logged-sources.ts";
import type { ExportRequest } from "./plan-export.ts";

export interface ExportDeps extends Omit<LinesDeps, "takeRoom"> {
  /** For what a client has not read yet. */
  readonly room: UnreadRoom;
  /** How many exports each project has under way, by its key. */
  readonly exportsUnderWay: Map<string, number>;
  /** Called with what broke an export off and is no fault of its client. */
  readonly onExportFailed: (error: unknown) => void;
}

/** Of one project. One whose client reads slowly keeps two batches in memory. */
const maxAtOnce = 4;

/** Throws Problem `project_busy` where the project has as many exports under way as it may. */
export async function carryOutExport(deps: ExportDeps, decided: ExportRequest): Promise<HttpResponse> {
  const request = await outliving(deps, decided);
  const { headers, method } = request.incoming.request;
  const isCompressed = new Negotiator({ headers }).encoding(["gzip", "identity"]) === "gzip";
  const answered = {
    status: 200,
    headers: {
      "Content-Type": exportMediaType,
      "Cache-Control": "no-store, no-transform",
      "Content-Disposition": `attachment; filename="${request.plan.project.config.name}.ndjson"`,
      Vary: "Authorization, Origin, Accept-Encoding",
      ...(isCompressed && { "Content-Encoding": "gzip" }),
    },
  };
  if (method === "HEAD") return answered;
  const starts = await startsOf(deps.store, request.plan);
  const end = beginOneOfFew(deps, request);
  const stream = (response: ServerResponse): void => {
    const leaving = new AbortController();
    response.once("close", () => leaving.abort());
    const takeRoom = (bytes: number) => deps.room.take(request.plan.project, bytes, leaving.signal);
    const lines = orBrokenOff(deps, request, exportLines({ ...deps, takeRoom }, request, starts));
    // A better compression would halve the rate, for a tenth of the bytes.
    const gzip = isCompressed ? createGzip({ level: zlib.Z_BEST_SPEED }) : undefined;
    const sent = gzip === undefined ? pipeline(lines, response) : pipeline(lines, gzip, response);
    // It fails where the client leaves.
    void sent.catch(() => undefined).finally(end);
  };
  return { ...answered, stream };
}

/** A user's access token lives for minutes: it is the session that has to last. */
async function outliving(deps: ExportDeps, request: ExportRequest): Promise<ExportRequest> {
  if (request.plan.caller.kind !== "user") return request;
  const incoming = { ...request.incoming, outlivesToken: true };
  return await deps.decideAgainIfChanged({ ...request, incoming, generation: Number.NaN });
}

/** Returns how it ends. */
function beginOneOfFew({ exportsUnderWay }: ExportDeps, { plan }: ExportRequest): () => void {
  const project = keyOfProject(plan.project.config);
  const count = exportsUnderWay.get(project) ?? 0;
  if (count >= maxAtOnce) {
    const detail = `The project has ${maxAtOnce} exports under way, as many as one replica sends at once; try again`;
    throw new Problem("project_busy", detail, { headers: { "Retry-After": "5" } });
  }
  exportsUnderWay.set(project, count + 1);
  return () => {
    const left = (exportsUnderWay.get(project) ?? 0) - 1;
    if (left > 0) exportsUnderWay.set(project, left);
    else exportsUnderWay.delete(project);
  };
}

async function* orBrokenOff(
  { onExportFailed }: ExportDeps,
  { incoming: { requestId } }: ExportRequest,
  lines: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    yield* lines;
  } catch (error) {
    if (!(error instanceof Problem)) onExportFailed(error);
    const { code, detail } = JSON.parse(problemResponse(error, { path: "", requestId }).text);
    yield Buffer.from(errorLine({ code, detail }));
  }
}
