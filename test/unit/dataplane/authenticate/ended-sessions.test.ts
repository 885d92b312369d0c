// For how long ended sessions are remembered, whatever the wall clock does meanwhile.

import { expect, test } from "vitest";
import { createEndedSessions } from "../../../../dataplane/authenticate/ended-sessions.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const hour = 3_600_000;

test("an ended session is remembered while a token of it could live, an hour at least, and forgotten some time after", () => {
  const clock = manualClock();
  const ended = createEndedSessions(clock);
  ended.add("long", 2 * 3600);
  ended.add("short", 60);
  expect(ended.has("never ended")).toBe(false);
  clock.advance(hour - 1);
  ended.add("another", 3600);
  expect([ended.has("long"), ended.has("short")]).toEqual([true, true]);
  clock.advance(60_000);
  ended.add("yet another", 3600);
  expect([ended.has("long"), ended.has("short"), ended.has("another")]).toEqual([true, false, true]);
});

test("told twice, it keeps the later end", () => {
  const clock = manualClock();
  const ended = createEndedSessions(clock);
  ended.add("one", 2 * 3600);
  ended.add("one", 1);
  clock.advance(hour + 120_000);
  ended.add("other", 3600);
  expect(ended.has("one")).toBe(true);
});

test("a wall clock that jumps ahead for a while makes it forget nothing", () => {
  const clock = manualClock();
  const ended = createEndedSessions(clock);
  ended.add("one", 3600);
  clock.adjust(2 * hour);
  clock.advance(61_000);
  ended.add("other", 3600);
  clock.adjust(-2 * hour);
  expect(ended.has("one")).toBe(true);
});
