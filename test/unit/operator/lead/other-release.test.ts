import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { type Candidate, type CandidateOptions, leases, openElection } from "./candidates.ts";

describe("a Lease of another release", () => {
  const minute = 60_000;
  const annotation = "jsonplane.io/release";
  /** What a process was told of releases, oldest first. */
  const releasesSeen = ({ reported }: Candidate): readonly (string | undefined)[] =>
    reported.flatMap((each) => (each.kind === "other_release" ? [each.release] : []));

  /** `a`, of the release one, led and has ended; `b` asks. */
  async function givenBack(options: CandidateOptions) {
    const world = openElection();
    const { time, candidate, lease } = world;
    const a = candidate("a", { release: "one" });
    await time.advance(10);
    expect(a.leads?.held()).toBe(true);
    const b = candidate("b", options);
    await time.advance(5_000);
    const released = a.leads?.release();
    await time.advance(100);
    await released;
    const releaseOf = () => ((lease()?.metadata["annotations"] ?? {}) as JsonObject)[annotation];
    return { ...world, b, releaseOf };
  }

  test("is left alone while its holder is replaced, and says whose it is", async () => {
    const { time, b, candidate, releaseOf } = await givenBack({ release: "two" });
    await time.advance(9 * minute);
    expect([b.leads, releaseOf(), releasesSeen(b)]).toEqual([undefined, "one", ["one"]]);
    const next = candidate("c", { release: "one" });
    await time.advance(3_000);
    expect(next.leads?.held()).toBe(true);
    expect(releasesSeen(next)).toEqual([]);
    await time.advance(20 * minute);
    expect([next.leads?.held(), b.leads]).toEqual([true, undefined]);
  });

  test("is left alone when its holder was killed, for longer than the holder's time", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a", { release: "one" });
    await time.advance(10);
    a.api.faults = () => ({ kind: "refused" });
    const b = candidate("b", { release: "two" });
    await time.advance(9 * minute);
    expect(b.leads).toBeUndefined();
    await time.advance(2 * minute);
    expect(b.leads?.held()).toBe(true);
  });

  test("is taken after ten minutes without a change, and is this release's from then on", async () => {
    const { time, b, releaseOf } = await givenBack({ release: "two" });
    await time.advance(10 * minute + 5_000);
    expect(b.leads?.held()).toBe(true);
    expect([releaseOf(), releasesSeen(b)]).toEqual(["two", ["one", undefined]]);
  });

  test("is taken at once where a person deletes it", async () => {
    const { time, b, objects, releaseOf } = await givenBack({ release: "two" });
    objects.remove(leases, "system", "jsonplane-operator");
    await time.advance(3_000);
    expect(b.leads?.held()).toBe(true);
    expect([releaseOf(), releasesSeen(b)]).toEqual(["two", ["one", undefined]]);
  });

  test.each<[string, CandidateOptions, string]>([
    ["a person allowed it", { release: "two", adopt: true }, "two"],
    ["it is of the same release", { release: "one" }, "one"],
    ["it was started without a release name, and leaves the release's there", {}, "one"],
  ])("is taken by a process as any other Lease where %s", async (_, options, releaseAfter) => {
    const { time, b, releaseOf } = await givenBack(options);
    await time.advance(3_000);
    expect([b.leads?.held(), releaseOf()]).toEqual([true, releaseAfter]);
  });

  test("is not taken from a living holder, not even where a person allowed it", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a", { release: "one" });
    await time.advance(10);
    const b = candidate("b", { release: "two", adopt: true });
    await time.advance(20 * minute);
    expect([a.leads?.held(), b.leads]).toEqual([true, undefined]);
  });

  test("is one that says so: an earlier version's is taken as ever", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(10);
    void a.leads?.release();
    const b = candidate("b", { release: "two" });
    await time.advance(5_000);
    expect([b.leads?.held(), releasesSeen(b)]).toEqual([true, []]);
  });
});
