import { expect, it } from "vitest";
import { OutcomeUnknown, StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { createRateLimits } from "../../../../dataplane/admission/rate-limits.ts";
import { anonymous } from "../../../../dataplane/authenticate/caller.ts";
import { createMemoryBuckets } from "../../../../dataplane/store/memory-buckets.ts";
import type { TokenBuckets } from "../../../../dataplane/store/ports/limits.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const shop = { namespace: "default", name: "shop" };
const asking = { caller: anonymous, address: () => "192.0.2.1" };

it("a draw whose outcome nobody knows refuses a request that did nothing as unavailable", async () => {
  const store = { drawTokens: () => Promise.reject(new OutcomeUnknown("No answer came")) };
  const limits = createRateLimits(store, manualClock(), () => undefined);
  const buckets = limits.of(shop, { project: { requestsPerSecond: 1, burst: 1 } }, asking);
  await expect(limits.take(shop, buckets)).rejects.toBeInstanceOf(StoreUnavailable);
});

it("a request that fails at the project's bucket takes nothing from the caller's", async () => {
  const clock = manualClock();
  const inner = createMemoryBuckets(clock);
  let isAway = true;
  const store: TokenBuckets = {
    drawTokens: (bucket, wanted) =>
      isAway && bucket.name.startsWith("rate:")
        ? Promise.reject(new StoreUnavailable("The test says so"))
        : inner.drawTokens(bucket, wanted),
  };
  const limits = createRateLimits(store, clock, () => undefined);
  const rates = { caller: { requestsPerSecond: 1, burst: 1 }, project: { requestsPerSecond: 1, burst: 10 } };
  const buckets = limits.of(shop, rates, asking);
  for (let n = 0; n < 3; n += 1) {
    await expect(limits.take(shop, buckets)).rejects.toBeInstanceOf(StoreUnavailable);
  }
  isAway = false;
  await limits.take(shop, buckets);
  await expect(limits.take(shop, buckets)).rejects.toMatchObject({ code: "rate_limited" });
});
