import { expect, test } from "vitest";
import { createEndedSessions } from "../../../../dataplane/authenticate/ended-sessions.ts";
import { manualClock } from "../../../support/manual-clock.ts";

test("an ended session is remembered while a token of it could live, and forgotten some time after", () => {
  const clock = manualClock();
  const ended = createEndedSessions(clock);
  const now = clock.now() / 1000;
  ended.add("long", now + 3600);
  ended.add("short", now + 60);
  expect(ended.has("never ended")).toBe(false);
  clock.advance(59_999);
  ended.add("another", now + 300);
  expect([ended.has("long"), ended.has("short")]).toEqual([true, true]);
  clock.advance(60_000);
  ended.add("yet another", now + 300);
  expect([ended.has("long"), ended.has("short"), ended.has("another")]).toEqual([true, false, true]);
});

test("told twice, it keeps the later end", () => {
  const clock = manualClock();
  const ended = createEndedSessions(clock);
  const now = clock.now() / 1000;
  ended.add("one", now + 3600);
  ended.add("one", now + 1);
  clock.advance(120_000);
  ended.add("other", now + 3600);
  expect(ended.has("one")).toBe(true);
});
