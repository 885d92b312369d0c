import { expect, it } from "vitest";
import { createResponseBudget } from "../../../../dataplane/admission/memory-budgets.ts";
import { ok } from "../../../../dataplane/http/response.ts";

const large = ok("x".repeat(100_000));
const small = ok("x");

it("refuses large reads while others wait to be read, and takes them again once those are gone", () => {
  const budget = createResponseBudget(() => undefined, 250_000);
  const [first, second, third] = [{}, {}, {}];
  expect(budget.admit(first, "GET", large)).toBe(large);
  budget.admit(second, "GET", large);
  expect(() => budget.admit(third, "HEAD", large)).toThrow(expect.objectContaining({ code: "query_busy" }));
  budget.ended(third);
  budget.ended(first);
  budget.ended(first);
  expect(budget.admit(third, "GET", large)).toBe(large);
  expect(() => budget.admit({}, "GET", large)).toThrow();
});

it("never refuses a small answer, nor that of a write that took place", () => {
  const budget = createResponseBudget(() => undefined, 250_000);
  for (let n = 0; n < 2; n += 1) budget.admit({}, "GET", large);
  expect(budget.admit({}, "GET", small)).toBe(small);
  expect(budget.admit({}, "PUT", large)).toBe(large);
});

it("leaves half of the budget to other projects", () => {
  const [loud, quiet] = [{}, {}];
  const budget = createResponseBudget<{ project: object }>(({ project }) => project, 450_000);
  for (let n = 0; n < 2; n += 1) budget.admit({ project: loud }, "GET", large);
  expect(() => budget.admit({ project: loud }, "GET", large)).toThrow(expect.objectContaining({ code: "query_busy" }));
  expect(budget.admit({ project: quiet }, "GET", large)).toBe(large);
});

it("counts bytes of UTF-8, not characters", () => {
  const budget = createResponseBudget(() => undefined, 250_000);
  const euros = { text: "€".repeat(40_000) };
  for (let n = 0; n < 2; n += 1) budget.admit({}, "GET", euros);
  expect(() => budget.admit({}, "GET", euros)).toThrow(expect.objectContaining({ code: "query_busy" }));
});
