import { expect, it } from "vitest";
import { rfc3339 } from "../../../core/rfc3339.ts";

it("a time is written in whole seconds", () => {
  expect(rfc3339(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe("2026-01-02T03:04:05Z");
});
