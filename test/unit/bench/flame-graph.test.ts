import { describe, expect, it } from "vitest";
import { flameGraph } from "../../bench/flame-graph.ts";
import { type CpuProfile, timesByFunction, timesByPart, treeOf } from "../../bench/profile-tree.ts";

type Frame = readonly [id: number, name: string, url: string, children: readonly number[]];

/** One sample of a millisecond for each id in `samples`. */
function profile(frames: readonly Frame[], samples: readonly number[]): CpuProfile {
  const nodes = frames.map(([id, functionName, url, children]) => ({
    id,
    callFrame: { functionName, url, lineNumber: 9 },
    children,
  }));
  return { nodes, samples, timeDeltas: samples.map(() => 1_000) };
}

const small = profile(
  [
    [1, "(root)", "", [2, 3, 4, 7]],
    [2, "(idle)", "", []],
    [3, "(garbage collector)", "", []],
    [4, "serve", "file:///x/dataplane/pipeline.ts", [5, 8]],
    [5, "route", "file:///x/dataplane/route/route.ts", [6]],
    [6, "decodeURIComponent", "", []],
    [7, "post", "node:inspector", []],
    [8, "<anonymous & co>", "file:///x/node_modules/ioredis/built/Redis.js", []],
  ],
  [2, 2, 3, 4, 5, 6, 6, 7, 8],
);

describe("a profile", () => {
  it("leaves out idle time and the profiler's own", () => expect(treeOf(small).total).toBe(6_000));

  it("counts what is built into the engine for who calls it", () => {
    expect(Object.fromEntries(timesByPart(treeOf(small)))).toEqual({
      router: 3_000,
      garbage: 1_000,
      "pipeline, answer": 1_000,
      "Redis client": 1_000,
    });
  });

  it("names the function that takes the most by itself first", () => {
    expect([...timesByFunction(treeOf(small))][0]).toEqual(["decodeURIComponent", 2_000]);
  });
});

describe("a flame graph", () => {
  it("says of each box which function it is, in which line, and how much of the time it takes", () => {
    const svg = flameGraph(treeOf(small), "A test");
    expect(svg).toContain("<title>A test</title>");
    expect(svg).toContain("<title>route route.ts:10 50.0 %</title>");
    expect(svg).toContain("&lt;anonymous &amp; co&gt; Redis.js:10");
  });

  it("leaves out narrow boxes rather than getting larger than 150 KB", () => {
    const ids = Array.from({ length: 2_000 }, (_, at) => at + 2);
    const frames = ids.map((id): Frame => [id, `called${id}`, "file:///x/dataplane/a.ts", id < 2_001 ? [id + 1] : []]);
    const svg = flameGraph(treeOf(profile([[1, "(root)", "", [2]], ...frames], ids)), "A deep one");
    expect(svg.length).toBeLessThan(150_000);
    expect(svg).toContain("called2 ");
  });
});
