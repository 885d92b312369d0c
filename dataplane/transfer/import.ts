// A request that imports lines of an export, as many as it sends: a whole file, or a part of one.
// The body is read no faster than it is written. A line is written whole, or refused by its number;
// the answer counts them. What fails the request leaves lines before it written, and it may be sent
// again: what is there already is counted as such. Refuses with 415, and with `invalid_line` the
// head of a file that can't be read.

import { LineSplitter } from "../../core/transfer/line-splitter.ts";
import { type HttpResponse, ok } from "../http/exchange.ts";
import { receiveLines } from "../http/read-body.ts";
import { maxObjectBytes } from "../operation/plan.ts";
import { ImportSummary } from "./import-summary.ts";
import { ImportedFile } from "./imported-file.ts";
import { ImportedGroups } from "./imported-groups.ts";
import type { ImportDeps, ImportRequest } from "./plan-import.ts";

/** Lines that are written together: the store creates so many objects in one step. */
const linesPerGroup = 16;
/** Bytes from which on a group is complete. */
const bytesPerGroup = 64 * 1024;
/** What a line has beside the data of its object or value. */
const bytesBesideData = 8 * 1024;

export async function carryOutImport(deps: ImportDeps, request: ImportRequest): Promise<HttpResponse> {
  const { mode, isDryRun, project } = request.plan;
  const { limits } = project.config;
  const maxLineBytes = Math.max(maxObjectBytes(limits), limits.maxDocumentBytes) + bytesBesideData;
  const summary = new ImportSummary();
  const file = new ImportedFile({ maxLineBytes, mode, refuse: summary.refuse });
  const groups = new ImportedGroups(deps, request, { file, summary });
  try {
    for await (const lines of groupsOf(receiveLines(request.incoming), maxLineBytes)) await groups.add(lines);
  } finally {
    await groups.settled();
  }
  file.finish();
  return ok(JSON.stringify(summary.counts(isDryRun)));
}

async function* groupsOf(
  pieces: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<readonly Uint8Array[]> {
  const splitter = new LineSplitter(maxLineBytes);
  let group: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    for (const line of splitter.push(piece)) {
      group.push(line);
      bytes += line.length;
      if (group.length < linesPerGroup && bytes < bytesPerGroup) continue;
      yield group;
      [group, bytes] = [[], 0];
    }
  }
  if (splitter.unfinished > 0) group.push(splitter.takeUnfinished());
  if (group.length > 0) yield group;
}
