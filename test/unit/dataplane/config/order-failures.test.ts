// What the log says of orders that failed: each of the first ones by its order, how many there are,
// and no message, which may hold data.

import { expect, it } from "vitest";
import { failureFacts } from "../../../../dataplane/config/carry-out-orders.ts";

const project = { namespace: "default", name: "shop" };

it("the first three failures are named, and all are counted", () => {
  const failed = (name: string) => ({ order: { name, project }, error: new TypeError("the secret of the store") });
  const nameOf = ({ name }: { readonly name: string }) => `resource ${name}`;
  expect(failureFacts(["a", "b", "c", "d", "e"].map(failed), nameOf)).toEqual({
    failed: 5,
    error:
      "TypeError (resource a of default/shop), TypeError (resource b of default/shop), TypeError (resource c of default/shop)",
  });
});
