import { describe, expect, it } from "vitest";
import { createUsage, type Usage } from "../../../../dataplane/observe/usage.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const minute = 60_000;
/** 12:00:00 UTC, a multiple of five minutes. */
const noon = Date.UTC(2026, 0, 1, 12);

function fixture(start = noon) {
  const clock = manualClock(start);
  const usage = createUsage(clock);
  const hit = (status: number, milliseconds: number, rootKey = "flags") =>
    usage.record("shop/web", rootKey, { status, seconds: milliseconds / 1000 });
  return { clock, usage, hit };
}

const lastBucket = (usage: Usage) => usage.project("shop/web").buckets.at(-1);

describe("usage of Key/Value requests", () => {
  it("is all zero, in twelve buckets of five minutes, for a project that nobody asked anything", () => {
    const figures = fixture().usage.project("shop/web");
    expect(figures.requestsLastHour).toBe(0);
    expect(figures.buckets).toHaveLength(12);
    expect(figures.buckets[0]).toEqual({ start: noon / 1000 - 55 * 60, statuses: {}, meanMilliseconds: null });
    expect(figures.buckets[11]?.start).toBe(noon / 1000);
  });

  it("counts requests, statuses and the mean duration of the five minutes under way", () => {
    const { usage, hit } = fixture();
    hit(200, 2);
    hit(200, 4);
    hit(404, 9);
    expect(usage.project("shop/web").requestsLastHour).toBe(3);
    expect(lastBucket(usage)).toEqual({
      start: noon / 1000,
      statuses: { 200: 2, 404: 1 },
      meanMilliseconds: 5,
    });
  });

  it("puts each request into the five minutes in which it ended", () => {
    const { clock, usage, hit } = fixture();
    hit(200, 1);
    clock.advance(5 * minute - 1);
    hit(201, 3);
    clock.advance(1);
    hit(500, 7);
    const { buckets } = usage.project("shop/web");
    expect(buckets[10]).toEqual({ start: noon / 1000, statuses: { 200: 1, 201: 1 }, meanMilliseconds: 2 });
    expect(buckets[11]).toEqual({ start: noon / 1000 + 300, statuses: { 500: 1 }, meanMilliseconds: 7 });
  });

  it("forgets a request an hour after the minute in which it ended", () => {
    const { clock, usage, hit } = fixture();
    hit(200, 1);
    clock.advance(59 * minute + 59_999);
    expect(usage.project("shop/web").requestsLastHour).toBe(1);
    clock.advance(1);
    expect(usage.project("shop/web").requestsLastHour).toBe(0);
  });

  it("tells root keys apart and adds them up for the project", () => {
    const { usage, hit } = fixture();
    hit(200, 1, "flags");
    hit(200, 1, "flags");
    hit(404, 1, "(unknown)");
    const figures = usage.project("shop/web");
    expect(figures.requestsLastHour).toBe(3);
    expect(figures.rootKeys.flags?.requestsLastHour).toBe(2);
    expect(figures.rootKeys["(unknown)"]?.buckets.at(-1)?.statuses).toEqual({ 404: 1 });
  });

  it("keeps projects apart and lists those with requests within the hour", () => {
    const { clock, usage, hit } = fixture();
    hit(200, 1);
    usage.record("shop/other", "a", { status: 200, seconds: 0.001 });
    expect(usage.projects()).toEqual(["shop/other", "shop/web"]);
    clock.advance(70 * minute);
    expect(usage.projects()).toEqual([]);
  });

  it("holds one entry a minute however many requests there are, and none that is over an hour old", () => {
    const { clock, usage, hit } = fixture();
    for (let i = 0; i < 500; i += 1) {
      hit(200, 1);
      clock.advance(minute);
    }
    expect(usage.project("shop/web").requestsLastHour).toBe(59);
    expect(usage.project("shop/web").buckets.map((bucket) => bucket.statuses[200])).toEqual([
      ...Array(11).fill(5),
      usage.project("shop/web").buckets.at(-1)?.statuses[200],
    ]);
  });

  it("counts into the newest minute while the clock runs backwards", () => {
    const { clock, usage, hit } = fixture();
    hit(200, 1);
    clock.advance(-30 * minute);
    hit(200, 1);
    clock.advance(30 * minute);
    expect(lastBucket(usage)?.statuses).toEqual({ 200: 2 });
  });
});
