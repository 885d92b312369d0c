// What the log says of purges that failed: each of the first ones by its order, how many there are,
// and no message, which may hold data.

import { expect, it } from "vitest";
import { failureFacts, type PurgeFailure } from "../../../../dataplane/config/carry-out-purges.ts";

const project = { namespace: "default", name: "shop" };
const failed = (name: string): PurgeFailure => ({
  order: { what: "resource", project, name },
  error: new TypeError("the secret of the store"),
});

it("the first three failures are named, and all are counted", () => {
  expect(failureFacts(["a", "b", "c", "d", "e"].map(failed))).toEqual({
    failed: 5,
    error:
      "TypeError (resource a of default/shop), TypeError (resource b of default/shop), TypeError (resource c of default/shop)",
  });
});

it("a failed purge of sessions has no name, and a look that failed no order", () => {
  const sessions: PurgeFailure = { order: { what: "sessions", project, projectUid: "1" }, error: "text" };
  expect(failureFacts([sessions, { error: new RangeError("x") }])).toEqual({
    failed: 2,
    error: "string (sessions of default/shop), RangeError",
  });
});
