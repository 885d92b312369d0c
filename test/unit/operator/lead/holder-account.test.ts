import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { type Election, leases, openElection } from "./candidates.ts";

describe("a Lease whose holder's ServiceAccount was deleted before it could be given back", () => {
  const annotation = "jsonplane.io/holder-account";
  const annotationsOf = ({ lease }: Pick<Election, "lease">) => (lease()?.metadata["annotations"] ?? {}) as JsonObject;
  const accountsOf = (world: Election) => annotationsOf(world)[annotation];

  /** `a` led, and can reach nothing any more; `b` asks. */
  async function left(first: string | undefined, second: string | undefined) {
    const world = openElection();
    const { time, candidate } = world;
    const a = candidate("a", first === undefined ? {} : { account: () => first });
    await time.advance(10);
    a.api.faults = () => ({ kind: "refused" });
    const b = candidate("b", second === undefined ? {} : { account: () => second });
    return { ...world, world, a, b };
  }

  test("goes to a process of one that was made anew under its name, once it saw no renewal for a period and a half", async () => {
    const { world, time, b } = await left("operator/1", "operator/2");
    expect(accountsOf(world)).toBe("system/operator/1/a");
    await time.advance(2_900);
    expect(b.leads).toBeUndefined();
    await time.advance(1_500);
    expect(b.leads?.held()).toBe(true);
    expect(accountsOf(world)).toBe("system/operator/2/b");
  });

  test.each([
    ["the same one", "operator/1", "operator/1"],
    ["one of another name", "operator/1", "other/2"],
    ["one, which the holder had none of", undefined, "operator/2"],
    ["none", "operator/1", undefined],
  ])("goes to a process of %s only when its time is over", async (_, first, second) => {
    const { time, b } = await left(first, second);
    await time.advance(14_000);
    expect(b.leads).toBeUndefined();
    await time.advance(4_000);
    expect(b.leads?.held()).toBe(true);
  });

  test("stays with a holder that renews it all the same, and says of which account it is by now", async () => {
    const world = openElection();
    const { time, candidate } = world;
    let uid = "operator/1";
    const a = candidate("a", { account: () => uid });
    await time.advance(10);
    const b = candidate("b", { account: () => "operator/2" });
    await time.advance(60_000);
    expect([a.leads?.held(), b.leads]).toEqual([true, undefined]);
    uid = "operator/2";
    await time.advance(2_100);
    expect(accountsOf(world)).toBe("system/operator/2/a");
  });

  test("goes by nothing that a former holder said, where an earlier version, which leaves it there, has it since", async () => {
    const { time, objects, candidate, lease } = openElection();
    const a = candidate("a", { account: () => "operator/1" });
    await time.advance(10);
    a.api.faults = () => ({ kind: "refused" });
    objects.replace(leases, { ...lease(), spec: { ...(lease()?.["spec"] as JsonObject), holderIdentity: "earlier" } });
    const b = candidate("b", { account: () => "operator/2" });
    await time.advance(14_000);
    expect(b.leads).toBeUndefined();
  });

  test("says nothing of a former holder's account once one without any has it", async () => {
    const { world, time, objects, candidate, lease } = await left("operator/1", undefined);
    const labelled = { ...lease()?.metadata, annotations: { [annotation]: "system/operator/1/a", team: "x" } };
    objects.replace(leases, { ...lease(), metadata: labelled });
    candidate("c");
    await time.advance(20_000);
    expect(annotationsOf(world)).toEqual({ team: "x" });
  });
});
