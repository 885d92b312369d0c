import { expect, test } from "vitest";
import { newIdentity } from "../../../../cli/operator/run-operator.ts";

test("an identity says which host, and differs when the host's process is started again", () => {
  const zeros = newIdentity("operator-7f9c", (count) => new Uint8Array(count));
  const ones = newIdentity("operator-7f9c", (count) => new Uint8Array(count).fill(255));
  expect([zeros, ones]).toEqual(["operator-7f9c_0000000000000000", "operator-7f9c_ffffffffffffffff"]);
});
