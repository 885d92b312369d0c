// The way of a request stays short, and docs/ARCHITECTURE.md shows one as it is.

import { beforeAll, describe, expect, it } from "vitest";
import { readShown } from "../trace/page.ts";
import { formatShown, type ShownTrace, traceShownRequests } from "../trace/shown-requests.ts";

/**
 * Sorted, without counts: a timer that comes between changes these, and the order of what waits for
 * the same answer.
 */
function namesIn(text: string): readonly string[] {
  return text
    .replaceAll(/ ×\d+|, \d+ calls$/gm, "")
    .split(/[\s,]+/)
    .filter(Boolean)
    .sort();
}

describe("a warm request", () => {
  let traces: readonly ShownTrace[];
  beforeAll(async () => {
    traces = await traceShownRequests();
  });

  it("runs through no more files than its limit", () => {
    const beyond = traces.filter(({ trace, maxFiles }) => trace.files.length > maxFiles);
    expect(beyond.map(({ title, trace }) => `${title}: ${trace.files.length}`)).toEqual([]);
  });

  it("runs no more functions than its limit", () => {
    const counts = traces.map(({ title, maxFunctions, trace }) => {
      const count = trace.files.reduce((sum, { functions }) => sum + functions.length, 0);
      return { title, count, isBeyond: count > maxFunctions };
    });
    expect(counts.filter(({ isBeyond }) => isBeyond).map(({ title, count }) => `${title}: ${count}`)).toEqual([]);
  });

  it("begins in the server, comes to the pipeline, then to the store, and ends in the log", () => {
    for (const { trace } of traces) {
      const paths = trace.files.map(({ path }) => path);
      const stops = ["dataplane/http/server.ts", "dataplane/pipeline.ts", "dataplane/store/", "core/log/logger.ts"];
      const places = stops.map((stop) => paths.findIndex((path) => path.startsWith(stop)));
      expect(places).toEqual([...places].sort((one, other) => one - other));
      expect(places[0]).toBe(0);
    }
  });

  it("is shown by docs/ARCHITECTURE.md as it is (npm run trace -- --write)", async () => {
    expect(namesIn(await readShown())).toEqual(namesIn(formatShown(traces)));
  });
});
