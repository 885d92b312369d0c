import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { verify } from "argon2";
import { describe, expect, test, vi } from "vitest";
import { generatedPasswordCost, hashPassword } from "../../../../core/password/hash-password.ts";
import {
  createPasswordVerifier,
  type PasswordQueue,
  passwordConcurrency,
} from "../../../../dataplane/sessions/passwords.ts";
import { cheapCost, refusalOf } from "../../../support/http/authentication.ts";

/** Variant, version and cost of an argon2 string, in one order. */
function workOf(hash: string): readonly string[] {
  const [, variant = "", version = "", cost = ""] = hash.split("$");
  return [variant, version, ...cost.split(",").sort()];
}

/** An attempt that lasts until the test lets it go. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

describe("comparing a password", () => {
  test("tells the right one from others, and says no for an unknown user", async () => {
    const verifier = await createPasswordVerifier({ concurrency: 1, maxWaiting: 1, cost: cheapCost });
    const hash = await hashPassword("secret", cheapCost);
    const compare = (known: string | undefined, password: string) =>
      verifier.withPermit("shop", (compareOne) => compareOne(known, password));
    expect(await compare(hash, "secret")).toBe(true);
    expect(await compare(hash, "Secret")).toBe(false);
    expect(await compare(hash, "")).toBe(false);
    expect(await compare(undefined, "secret")).toBe(false);
  });

  test("takes it whatever the Unicode form in which a client sends its letters and spaces, and its final newline", async () => {
    const verifier = await createPasswordVerifier({ concurrency: 1, maxWaiting: 1, cost: cheapCost });
    const hash = await hashPassword("\u00e9 \uac00\n", cheapCost);
    for (const sent of ["\u00e9 \uac00", "e\u0301\u00a0\u1100\u1161", "\u00e9\u3000\u1100\u1161\n"]) {
      expect(await verifier.withPermit("shop", (compare) => compare(hash, sent))).toBe(true);
    }
  });

  test("takes the same work to refuse one for every user: one comparison at each of the two costs", async () => {
    // Counted, and still the real one.
    const counted = vi.fn(verify);
    const verifier = await createPasswordVerifier({ concurrency: 1, maxWaiting: 1, verify: counted });
    const hashes = [await hashPassword("secret"), await hashPassword("secret", generatedPasswordCost), undefined];
    for (const hash of hashes) {
      expect(await verifier.withPermit("shop", (compare) => compare(hash, "wrong"))).toBe(false);
      expect(counted.mock.calls.map(([stored, password]) => [workOf(stored), password])).toEqual([
        [["argon2id", "v=19", "m=64", "p=1", "t=1"], "wrong"],
        [["argon2id", "v=19", "m=19456", "p=1", "t=2"], "wrong"],
      ]);
      counted.mockClear();
    }
  });

  test("accepts a generated one after the cheap comparison alone", async () => {
    const counted = vi.fn(verify);
    const verifier = await createPasswordVerifier({ concurrency: 1, maxWaiting: 1, cost: cheapCost, verify: counted });
    const hash = await hashPassword("generated", generatedPasswordCost);
    expect(await verifier.withPermit("shop", (compare) => compare(hash, "generated"))).toBe(true);
    expect(counted).toHaveBeenCalledTimes(1);
  });

  test("accepts none where there is no hash, not even the password of nobody", async () => {
    const verifier = await createPasswordVerifier({
      concurrency: 1,
      maxWaiting: 1,
      cost: cheapCost,
      verify: async () => true,
    });
    expect(await verifier.withPermit("shop", (compare) => compare(undefined, "x"))).toBe(false);
  });

  test("with a stored string that would take gigabytes fails loudly, and compares nothing", async () => {
    const counted = vi.fn(verify);
    const verifier = await createPasswordVerifier({ concurrency: 1, maxWaiting: 0, cost: cheapCost, verify: counted });
    const hash = (await hashPassword("secret", cheapCost)).replace(/m=\d+/, "m=4194304");
    await expect(verifier.withPermit("shop", (compare) => compare(hash, "x"))).rejects.toThrow();
    expect(counted).not.toHaveBeenCalled();
  });

  test("with a stored string that is no hash fails loudly and frees its place", async () => {
    const verifier = await createPasswordVerifier({ concurrency: 1, maxWaiting: 0, cost: cheapCost });
    await expect(verifier.withPermit("shop", (compare) => compare("not a hash", "x"))).rejects.toThrow();
    expect(await verifier.withPermit("shop", async () => "free")).toBe("free");
  });
});

describe("the queue of password comparisons", () => {
  test("runs as many at once as it was told, the rest in order of arrival", async () => {
    const verifier = await createPasswordVerifier({ concurrency: 2, maxWaiting: 10, cost: cheapCost });
    const gates = [gate(), gate(), gate(), gate()];
    const started: number[] = [];
    const attempts = gates.map((one, i) =>
      verifier.withPermit("shop", async () => {
        started.push(i);
        await one.opened;
      }),
    );
    await turnOfTheLoop();
    expect(started).toEqual([0, 1]);
    gates[1]?.open();
    await turnOfTheLoop();
    expect(started).toEqual([0, 1, 2]);
    gates[0]?.open();
    await turnOfTheLoop();
    expect(started).toEqual([0, 1, 2, 3]);
    for (const one of gates) one.open();
    await Promise.all(attempts);
  });

  test("refuses who would wait too far back, and takes them again once there is room", async () => {
    const queue: PasswordQueue[] = [];
    const verifier = await createPasswordVerifier({
      concurrency: 1,
      maxWaiting: 2,
      cost: cheapCost,
      observe: (state) => queue.push(state),
    });
    const one = gate();
    const attempts = [0, 1, 2].map(() => verifier.withPermit("shop", () => one.opened));
    const refusal = await refusalOf(() => verifier.withPermit("shop", async () => "not reached"));
    expect(refusal.code).toBe("login_busy");
    expect(refusal.headers).toEqual({ "Retry-After": "1" });
    expect(queue.at(-1)).toEqual({ running: 1, waiting: 2 });
    one.open();
    await Promise.all(attempts);
    expect(await verifier.withPermit("shop", async () => "reached")).toBe("reached");
    expect(queue.at(-1)).toEqual({ running: 0, waiting: 0 });
  });

  test("hands the place on when an attempt throws", async () => {
    const verifier = await createPasswordVerifier({ concurrency: 1, maxWaiting: 1, cost: cheapCost });
    const broken = verifier.withPermit("shop", async () => {
      throw new Error("broken");
    });
    const next = verifier.withPermit("shop", async () => "next");
    await expect(broken).rejects.toThrow("broken");
    expect(await next).toBe("next");
  });

  test.each([
    [1, 1],
    [2, 1],
    [4, 3],
    [64, 3],
  ])("leaves a core of %i and a thread of the pool to others: %i at once", (cores, atOnce) => {
    expect(passwordConcurrency(cores)).toBe(atOnce);
  });
});
