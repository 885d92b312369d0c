import { expect, it } from "vitest";
import { createMemoryBudget, memoryLimits } from "../../../../dataplane/admission/memory-budgets.ts";

const mebibyte = 1024 * 1024;

it("gives a project as much as it leaves to all others, so that no number of projects fills a budget", () => {
  const budget = createMemoryBudget(900);
  const [first, second, third] = [budget.of({}), budget.of({}), budget.of({})];
  expect(first.take(451)).toBe(false);
  expect(first.take(450)).toBe(true);
  expect([first.take(1), second.take(226)]).toEqual([false, false]);
  expect(second.take(225)).toBe(true);
  expect([third.take(113), third.take(112)]).toEqual([false, true]);
  first.release(450);
  expect(third.take(169)).toBe(true);
});

it("knows a project again", () => {
  const budget = createMemoryBudget(200);
  const project = {};
  budget.of(project).take(100);
  expect(budget.of(project).take(1)).toBe(false);
});

it("leaves memory to the program: with the chart's heap limit, connections and budgets together need no more than it", () => {
  const heapLimit = 355 * mebibyte;
  const { connections, bodies, responses, pipelined } = memoryLimits(heapLimit);
  expect(connections * 48 * 1024 + bodies + responses + pipelined).toBeLessThan(heapLimit);
  expect(memoryLimits(2 * heapLimit).connections).toBeGreaterThanOrEqual(2 * connections);
});
