// The way of a changed resource stays short.

import { beforeAll, describe, expect, it } from "vitest";
import type { Trace } from "../trace/trace.ts";
import { maxFilesOfChange, traceChange } from "../trace/traced-change.ts";

describe("a change of a ProjectUser", () => {
  let traced: Trace;
  beforeAll(async () => {
    traced = await traceChange();
  });

  it("runs through no more files than its limit", () => {
    expect(traced.files.length).toBeLessThanOrEqual(maxFilesOfChange);
  });

  it("comes from a watch, waits in the queue, is reconciled and published, and its status is written last", () => {
    const paths = traced.files.map(({ path }) => path);
    const stops = ["watch/reflector", "queue/work-queue", "reconcile/reconcile", "publish/publish-scripts", "status/"];
    const places = stops.map((stop) => paths.findIndex((path) => path.startsWith(`operator/${stop}`)));
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(places[0]).toBe(0);
  });
});
