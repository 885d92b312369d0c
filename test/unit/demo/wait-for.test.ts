import { describe, expect, it } from "vitest";
import { type NeededProgram, waitFor } from "../../demo/wait-for.ts";

const never: NeededProgram = { name: "Redis", ended: () => new Promise(() => undefined), log: () => "redis is up\n" };
const minuteMs = 60_000;

/** An attempt that holds from the nth time on. */
function nth(wanted: number): () => number {
  let count = 0;
  return () => {
    count += 1;
    if (count < wanted) throw new Error(`only ${count}\nand more`);
    return count;
  };
}

describe("waiting", () => {
  it("lasts until it holds, and returns what was found", async () => {
    expect(await waitFor({ what: "the third", withinMs: minuteMs, needs: [never] }, nth(3))).toBe(3);
  });

  it("that was in vain says in its first line what was waited for and how it stood; programs' logs follow", async () => {
    const waiting = waitFor({ what: "the Secret", withinMs: 0, needs: [never] }, nth(10));
    await expect(waiting).rejects.toThrow(
      "Waited 0 s for the Secret: only 1. Try again when this machine has less to do\n-- Redis\nredis is up\n",
    );
  });

  it.each<readonly [number | null, string]>([
    [3, "with code 3"],
    [null, "by a signal"],
  ])("ends at once when a program that is needed has ended: %s", async (code, how) => {
    const needs = [never, { name: "The operator", ended: async () => code, log: () => "a\nno Redis\n" }];
    const waiting = waitFor({ what: "the Secret", withinMs: minuteMs, needs }, () => Promise.reject(new Error("none")));
    await expect(waiting).rejects.toThrow(`The operator ended ${how} (waited for the Secret): no Redis\n-- Redis`);
  });

  it("says so when that program said nothing", async () => {
    const needs = [{ name: "The operator", ended: async () => 1, log: () => "" }];
    const waiting = waitFor({ what: "the Secret", withinMs: minuteMs, needs }, () => Promise.reject(new Error("none")));
    await expect(waiting).rejects.toThrow("it said nothing");
  });
});
