import { describe, expect, it } from "vitest";
import type { QuotaUses } from "../../../../core/config/quota-uses.ts";
import type { JsonObject } from "../../../../core/config/types.ts";
import type { Project } from "../../../../operator/model/objects.ts";
import { isWorthReporting, quotaEventsOf, usageMembers } from "../../../../operator/status/usage-status.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

const limited = (quota?: JsonObject) =>
  stored("Project", "shop", { spec: { limits: quota === undefined ? {} : { quota } } }) as Project;
const objects = (used: number): QuotaUses => ({ objects: { used, limit: 100 } });
const reported = (used: number, nearlyFull: boolean, quota = "objects") => ({
  usage: [{ quota, used, limit: 100, nearlyFull }],
});
const quota = { objects: 100 };
const quotaMembers = (project: Project, former: object, quotaUsage: QuotaUses | undefined, isDue = false) =>
  usageMembers(project, { ...former }, { storedObjects: undefined, quotaUsage, isDue });
const storedMembers = (former: object, storedObjects: number | undefined, isDue = true) =>
  usageMembers(limited(), { ...former }, { storedObjects, quotaUsage: undefined, isDue });

describe("a Project's status", () => {
  it("says how much of its quotas is used, in the order of the spec's fields", () => {
    const uses = { documentKeys: { used: 5, limit: 6 }, objects: { used: 1, limit: 100 } };
    expect(quotaMembers(limited({ objects: 100, documentKeys: 6 }), {}, uses)).toEqual({
      usage: [
        { quota: "objects", used: 1, limit: 100, nearlyFull: false },
        { quota: "documentKeys", used: 5, limit: 6, nearlyFull: true },
      ],
    });
  });

  it("says nothing of a quota that the Project does not have, or has no more, or of which nothing is known yet", () => {
    expect(quotaMembers(limited(), reported(90, true), objects(90))).toEqual({});
    expect(quotaMembers(limited({ bytes: 5_000 }), reported(90, true), objects(90))).toEqual({});
    expect(quotaMembers(limited(quota), {}, undefined)).toEqual({});
  });

  it("keeps what was said while nobody says anything anew", () => {
    expect(quotaMembers(limited(quota), reported(90, true), undefined, true)).toEqual(reported(90, true));
    expect(usageMembers(limited(quota), reported(90, true), undefined)).toEqual(reported(90, true));
  });

  it("says how much is used in the Project's turn, if that has moved, and at once where the limit is another one", () => {
    expect(quotaMembers(limited(quota), reported(10, false), objects(20))).toEqual(reported(10, false));
    expect(quotaMembers(limited(quota), reported(10, false), objects(20), true)).toEqual(reported(20, false));
    const many = (used: number, limit = 10_000): QuotaUses => ({ objects: { used, limit } });
    const before = quotaMembers(limited(quota), {}, many(1_000));
    expect(quotaMembers(limited(quota), before, many(1_009), true)).toEqual(before);
    const usage = [{ quota: "objects", used: 1_001, limit: 20_000, nearlyFull: false }];
    expect(quotaMembers(limited(quota), before, many(1_001, 20_000))).toEqual({ usage });
  });

  it.each<readonly [used: number, was: boolean, is: boolean]>([
    [79, false, false],
    [80, false, true],
    [120, false, true],
    [79, true, true],
    [75, true, true],
    [74, true, false],
  ])("calls %i of 100 nearly full, where it was so: %s, → %s", (used, was, is) => {
    expect(quotaMembers(limited(quota), reported(50, was), objects(used), true)).toEqual(reported(used, is));
  });
});

describe("the stored objects in a Project's status", () => {
  it("are what was counted, and stay where there is nothing new to report", () => {
    expect(storedMembers({}, 3)).toEqual({ storedObjectCount: 3 });
    expect(storedMembers({ storedObjectCount: 3 }, 0)).toEqual({ storedObjectCount: 0 });
    expect(storedMembers({ storedObjectCount: 3 }, undefined)).toEqual({ storedObjectCount: 3 });
    expect(storedMembers({ storedObjectCount: 1_000 }, 1_009)).toEqual({ storedObjectCount: 1_000 });
    expect(storedMembers({}, undefined)).toEqual({});
    expect(storedMembers({}, 0)).toEqual({});
  });

  it("stay as they are until it is the Project's turn", () => {
    expect(storedMembers({ storedObjectCount: 3 }, 9, false)).toEqual({ storedObjectCount: 3 });
    expect(storedMembers({}, 9, false)).toEqual({});
  });

  it.each<readonly [count: number, reported: number | undefined, isWorth: boolean]>([
    [0, undefined, false],
    [1, undefined, true],
    [0, 1, true],
    [1, 0, true],
    [7, 7, false],
    [8, 7, true],
    [1_009, 1_000, false],
    [1_010, 1_000, true],
    [991, 1_000, false],
    [990, 1_000, true],
  ])("are worth a write where there are %i and %s are reported: %s", (count, storedObjectCount, isWorth) => {
    const usage = { storedObjects: count, quotaUsage: undefined };
    expect(isWorthReporting(storedObjectCount === undefined ? {} : { storedObjectCount }, usage)).toBe(isWorth);
    if (storedObjectCount === undefined) expect(isWorthReporting(undefined, usage)).toBe(isWorth);
  });
});

describe("the use of a quota in a Project's status", () => {
  const gibibyte = 1_073_741_824;
  const bytes = (used: number): QuotaUses => ({ bytes: { used, limit: gibibyte } });
  it.each<readonly [used: number, reported: number, isWorth: boolean]>([
    [0, 0, false],
    [1, 0, true],
    [0, 1, true],
    [1_009, 1_000, false],
    [1_010, 1_000, true],
    [990, 1_000, true],
    [gibibyte, gibibyte - 10_000_000, false],
  ])(
    "is worth a write where it is %i bytes and %i are reported, whatever the limit is: %s",
    (used, before, isWorth) => {
      const status = { usage: [{ quota: "bytes", used: before, limit: gibibyte, nearlyFull: false }] };
      expect(isWorthReporting(status, { storedObjects: undefined, quotaUsage: bytes(used) })).toBe(isWorth);
    },
  );

  it("is worth no write in its turn where the status doesn't report the quota: that was enqueued at once", () => {
    expect(isWorthReporting({}, { storedObjects: undefined, quotaUsage: bytes(5) })).toBe(false);
    expect(isWorthReporting(reported(5, false), { storedObjects: undefined, quotaUsage: bytes(5) })).toBe(false);
  });
});

describe("the Event of a quota", () => {
  it("is told when it becomes nearly full, and not again until it had room", () => {
    const note = "80 of 100 are used of the quota objects; a write that exceeds it is refused with 403";
    const event = { type: "Warning", reason: "QuotaNearlyFull", action: "Reconcile", note };
    expect(quotaEventsOf(undefined, reported(80, true))).toEqual([event]);
    expect(quotaEventsOf(reported(10, false), reported(80, true))).toEqual([event]);
    expect(quotaEventsOf(reported(80, true), reported(99, true))).toEqual([]);
    expect(quotaEventsOf(reported(99, true), reported(10, false))).toEqual([]);
    expect(quotaEventsOf(reported(99, true, "bytes"), reported(80, true))).toEqual([event]);
    expect(quotaEventsOf({}, {})).toEqual([]);
  });
});
