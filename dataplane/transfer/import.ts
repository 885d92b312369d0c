// A request that imports lines of an export, as many as it sends: a whole file, or a part of one.
// The body is read no faster than it is written. A line is written whole, or refused by its number;
// the answer counts them. What fails the request leaves lines before it written, and it may be sent
// again: what is there already is counted as such. Refuses with 415, and with `invalid_line` the
// head of a file that can't be read.

import { errorCatalogue } from "../../core/errors/catalogue.ts";
import { Problem } from "../../core/errors/problem.ts";
import { asProblem } from "../../core/http/problem-response.ts";
import { LineSplitter } from "../../core/transfer/line-splitter.ts";
import type { MemoryShare } from "../admission/memory-budgets.ts";
import { type HttpResponse, ok } from "../http/exchange.ts";
import { receiveLines, tooManyBodies } from "../http/read-body.ts";
import { maxObjectBytes } from "../operation/plan.ts";
import { ImportSummary } from "./import-summary.ts";
import { ImportedFile } from "./imported-file.ts";
import { ImportedGroups, type LineGroup } from "./imported-groups.ts";
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
  const memory = deps.bodyBudget.of(project);
  const groups = new ImportedGroups(deps, request, { file, summary, memory });
  try {
    const lines = groupsOf(receiveLines(request.incoming), maxLineBytes, memory);
    for await (const group of lines) await groups.add(group);
    await groups.settled();
  } catch (error) {
    await groups.ended();
    throw endedEarly(error);
  }
  file.finish();
  return ok(JSON.stringify(summary.counts(isDryRun)));
}

/** Of one write such errors say that nothing was done, or that it has to be read again. */
function endedEarly(error: unknown): unknown {
  const { code, headers } = asProblem(error);
  if (errorCatalogue[code].status <= 500) return error;
  return new Problem(
    code,
    "The import ended before all its lines were stored. Send it again: lines that are stored already change nothing",
    { headers },
  );
}

/** Bytes count in `memory` as soon as they are kept: lines that never end would fill it else. */
async function* groupsOf(
  pieces: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  memory: MemoryShare,
): AsyncGenerator<LineGroup> {
  const splitter = new LineSplitter(maxLineBytes);
  let lines: Uint8Array[] = [];
  let bytes = 0;
  let counted = 0;
  const count = (kept: number): void => {
    if (kept > counted && !memory.take(kept - counted)) throw tooManyBodies();
    if (kept < counted) memory.release(counted - kept);
    counted = kept;
  };
  /** Whoever gets it releases its bytes. */
  const group = (): LineGroup => {
    count(bytes);
    const whole = { lines, bytes };
    [lines, bytes, counted] = [[], 0, 0];
    return whole;
  };
  const add = (line: Uint8Array): void => {
    lines.push(line);
    bytes += line.length;
  };
  try {
    for await (const piece of pieces) {
      for (const line of splitter.push(piece)) {
        add(line);
        if (lines.length >= linesPerGroup || bytes >= bytesPerGroup) yield group();
      }
      count(bytes + splitter.unfinished);
    }
    if (splitter.unfinished > 0) add(splitter.takeUnfinished());
    if (lines.length > 0) yield group();
  } finally {
    count(0);
  }
}
