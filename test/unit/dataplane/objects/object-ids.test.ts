import { describe, expect, it } from "vitest";
import { createObjectIds, isObjectId } from "../../../../dataplane/objects/object-ids.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

describe("object ids", () => {
  it("are version 7 UUIDs in lower case that carry the time of creation", () => {
    const clock = manualClock(0x0190_0000_0001);
    const { id, createdMs } = createObjectIds(clock)();
    expect(id).toMatch(/^01900000-0001-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(createdMs).toBe(0x0190_0000_0001);
    expect(isObjectId(id)).toBe(true);
  });

  it("sort by creation, within a millisecond and while the clock runs backwards", () => {
    const clock = manualClock();
    const newId = createObjectIds(clock);
    const made = Array.from({ length: 10_000 }, (_, i) => {
      if (i === 5_000) clock.advance(-59_000);
      return newId();
    });
    const ids = made.map((each) => each.id);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    const times = made.map((each) => each.createdMs);
    expect(times).toEqual(times.toSorted((left, right) => left - right));
  });

  it("leave the time that a clock showed which jumped ahead, once it is back by more than a minute", () => {
    const clock = manualClock();
    const newId = createObjectIds(clock);
    const made = (adjusted: number) => {
      clock.adjust(adjusted);
      const { id, createdMs } = newId();
      return { id, ahead: createdMs - clock.now() };
    };
    const hour = 3_600_000;
    const [before, early, after, later] = [made(0), made(hour), made(1 - hour), made(30_000)];
    // Back by a minute it goes on where it was, by more it goes by the clock again.
    const [held, left] = [made(-60_000), made(-1)];
    expect([before, early, after, later, held, left].map(({ ahead }) => ahead)).toEqual([0, 0, 0, 0, 60_000, 0]);
    const ordered = [left, before, after, later, held, early].map(({ id }) => id);
    expect(ordered).toEqual(ordered.toSorted());
  });

  it("of one millisecond are never further ahead of the clock than a minute, however many are made", () => {
    const clock = manualClock();
    const newId = createObjectIds(clock);
    const made = Array.from({ length: 3 * 0x1000 }, () => newId());
    expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
    expect((made.at(-1)?.createdMs ?? 0) - clock.now()).toBe(2);
  });

  it.each([
    "",
    "1",
    "0190000000017000800000000000000",
    "01900000-0001-4000-8000-000000000000",
    "01900000-0001-7000-8000-00000000000G",
  ])("are never %j", (text) => expect(isObjectId(text)).toBe(false));
});
