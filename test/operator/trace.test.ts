// The way of a changed resource stays short, and docs/reference/trace-of-a-change.md shows the files that it goes through.

import { beforeAll, describe, expect, it } from "vitest";
import { readShown } from "../trace/page.ts";
import type { Trace } from "../trace/trace.ts";
import { formatChange, maxFilesOfChange, traceChange } from "../trace/traced-change.ts";

function filesIn(text: string): readonly string[] {
  return [...text.matchAll(/\S+\.ts(?=:)/g)].map(([file]) => file).sort();
}

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

  it("is shown by docs/reference/trace-of-a-change.md as it is (npm run trace -- operator --write)", async () => {
    expect(filesIn(await readShown("operator --write"))).toEqual(filesIn(formatChange(traced)));
  });
});
