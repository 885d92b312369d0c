import { expect, it } from "vitest";
import { OutcomeUnknown, StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { anonymous } from "../../../../dataplane/authenticate/caller.ts";
import { createRateLimits } from "../../../../dataplane/limit/rate-limits.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

it("a draw whose outcome nobody knows refuses a request that did nothing as unavailable", async () => {
  const store = { drawTokens: () => Promise.reject(new OutcomeUnknown("No answer came")) };
  const limits = createRateLimits(store, manualClock(), () => undefined);
  const shop = { namespace: "default", name: "shop" };
  const rates = { project: { requestsPerSecond: 1, burst: 1 } };
  const buckets = limits.of(shop, rates, { caller: anonymous, address: "192.0.2.1" });
  await expect(limits.demand(shop, buckets)).rejects.toBeInstanceOf(StoreUnavailable);
});
