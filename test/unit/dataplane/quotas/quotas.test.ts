// The rounds in which a replica looks at projects that nobody writes to.

import { expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import { createQuotas } from "../../../../dataplane/quotas/quotas.ts";
import type { Store } from "../../../../dataplane/store/port.ts";
import { eventually } from "../../../support/time/eventually.ts";

it("go on after one that failed, which is reported", async () => {
  const failures: unknown[] = [];
  let looks = 0;
  const quotas = createQuotas({
    store: {} as Store,
    clock: systemClock,
    quotaRoundMs: 5,
    directory: {
      loaded() {
        looks += 1;
        if (looks === 1) throw new Error("no directory");
        return [];
      },
    },
    onFailed: (error) => failures.push(error),
  });
  await eventually(() => expect(looks).toBeGreaterThan(1));
  await quotas.close();
  expect(failures).toEqual([expect.objectContaining({ message: "no directory" })]);
});
