import { expect, it } from "vitest";
import { RedisContested } from "../../../../operator/publish/refusals.ts";

it("the refusal of another installation's Redis names that one for the log, and not in its message, which tenants read", () => {
  const { reason, facts, message } = new RedisContested("there/uid/hash");
  expect([reason, facts]).toEqual(["RedisContested", { owner: "there/uid/hash" }]);
  expect(message).toContain("--adopt-data");
  expect(message).not.toContain("there/uid/hash");
});
