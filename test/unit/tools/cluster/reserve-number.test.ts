import { expect, it, onTestFinished } from "vitest";
import { type ReservedNumber, reserveClusterNumber } from "../../../../tools/cluster/reserve-number.ts";

async function reserved(): Promise<ReservedNumber> {
  const made = await reserveClusterNumber();
  onTestFinished(() => made.release());
  return made;
}

it("a cluster of a test has a number that no other test has, and never that of `make cluster`", async () => {
  const numbers = [await reserved(), await reserved(), await reserved()].map(({ number }) => number);
  expect(new Set(numbers).size).toBe(3);
  expect(numbers).not.toContain(0);
});
