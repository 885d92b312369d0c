import { expect, it } from "vitest";
import { createUsage } from "../../../../dataplane/observe/usage.ts";
import { usagePage } from "../../../../dataplane/observe/usage-page.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

it("counts in a root key's row only requests whose statuses and mean the row shows", () => {
  // Asked at 12:01, the last hour has the requests of 11:03, and the buckets begin at 11:05.
  const clock = manualClock(Date.UTC(2026, 0, 1, 11, 3));
  const usage = createUsage(clock);
  usage.record("shop/web", "doc", { status: 404, seconds: 0.001 });
  clock.advance(58 * 60_000);
  usage.record("shop/web", "doc", { status: 200, seconds: 0.002 });
  const figures = usage.project("shop/web");
  expect(figures.requestsLastHour).toBe(2);
  const page = usagePage({ projects: [{ name: "shop/web", usage: figures, quotas: {} }], further: 0 });
  const rows = [...page.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = ""]) => row.split(/<[^>]+>/).filter(Boolean));
  expect(rows).toContainEqual(["doc", "1", "2.0 ms"]);
});
