// One watch of the fake API server: replays the log, goes on live, sends bookmarks, and ends as a
// fault wants it.

import type { ServerResponse } from "node:http";
import type { Fault } from "./fake-api-faults.ts";
import type { FakeApiObjects, LoggedEvent, StoredObject } from "./fake-api-objects.ts";

export interface WatchedPart {
  readonly collection: string;
  readonly matches: (object: StoredObject | undefined) => boolean;
  /** The object as this request's Accept header wants it. */
  readonly shown: (object: StoredObject) => unknown;
}

export interface WatchTimes {
  readonly bookmarkMs: number;
  readonly timeoutMs: number;
}

export interface StreamedWatch {
  readonly part: WatchedPart;
  readonly from: number;
  readonly bookmarks: boolean;
  readonly times: WatchTimes;
  readonly fault: Fault | undefined;
}

export function streamWatch(objects: FakeApiObjects, response: ServerResponse, watch: StreamedWatch): void {
  const { part, from, times, fault } = watch;
  const cut = fault?.kind === "cutStream" ? fault : undefined;
  let lines = 0;
  let over = false;
  const write = (type: string, object: unknown): void => {
    if (over) return;
    const line = `${JSON.stringify({ type, object })}\n`;
    if (cut === undefined || lines < cut.afterLines) response.write(line);
    else finish(line);
    lines += 1;
  };
  const finish = (line: string): void => {
    over = true;
    if (cut?.how === "reset") response.socket?.resetAndDestroy();
    else if (cut?.how === "end") response.end();
    else if (cut?.how === "truncated") response.end(line.slice(0, line.length / 2));
    else if (cut?.how === "gone") response.end(errorLine(410, "Expired", "too old resource version"));
    else if (cut?.how === "error") response.end(errorLine(500, "InternalError", "etcdserver: request timed out"));
  };
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  if (from < objects.compacted) {
    response.end(errorLine(410, "Expired", "too old resource version"));
    return;
  }
  const notify = (event: LoggedEvent): void => {
    const changed = change(event, part);
    if (changed !== undefined) write(changed, part.shown(event.object));
  };
  for (const event of objects.since(from)) notify(event);
  const stopListening = objects.onEvent(notify);
  const bookmark = (): void => {
    const { revision } = objects;
    write("BOOKMARK", { metadata: { resourceVersion: String(revision) } });
  };
  const wanted = watch.bookmarks && fault?.kind !== "dropBookmarks";
  const ticking = wanted ? setInterval(bookmark, times.bookmarkMs) : undefined;
  const ending = setTimeout(() => {
    over = true;
    response.end();
  }, times.timeoutMs);
  response.on("close", () => {
    over = true;
    stopListening();
    clearInterval(ticking);
    clearTimeout(ending);
  });
}

/** A selector's view of a change: what leaves it is DELETED, what enters it ADDED. */
function change(event: LoggedEvent, part: WatchedPart): string | undefined {
  if (event.collection !== part.collection) return undefined;
  const was = event.before !== undefined && part.matches(event.before);
  const is = !event.gone && part.matches(event.object);
  if (is) return was ? "MODIFIED" : "ADDED";
  return was ? "DELETED" : undefined;
}

function errorLine(code: number, reason: string, message: string): string {
  const object = { kind: "Status", apiVersion: "v1", status: "Failure", message, reason, code };
  return `${JSON.stringify({ type: "ERROR", object })}\n`;
}
