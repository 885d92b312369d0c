import { setImmediate as settled } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { generatedPasswordCost, PasswordRefused } from "../../../../core/password/hash-password.ts";
import { createPasswordHasher, type PassHashes } from "../../../../operator/queue/password-hasher.ts";

/** A hasher whose hashes are made when a test says so. */
function hasherOf(atOnce = 1) {
  const begun: { readonly password: string; readonly make: () => void; readonly fail: (error: Error) => void }[] = [];
  const due: unknown[][] = [];
  const hasher = createPasswordHasher({
    queue: { add: (key) => void due.push([key]), addAfter: (key, milliseconds) => void due.push([key, milliseconds]) },
    atOnce,
    hash(password, cost) {
      if (cost === generatedPasswordCost) return Promise.resolve(`cheap ${password}`);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      begun.push({ password, make: () => resolve(`hash of ${password}`), fail: reject });
      return promise;
    },
  });
  return {
    hasher,
    due,
    begun: () => begun.map(({ password }) => password),
    async makeNext(): Promise<void> {
      begun.at(-1)?.make();
      await settled();
    },
    async fail(error: Error): Promise<void> {
      begun.at(-1)?.fail(error);
      await settled();
    },
    pass: async (project: string, passwords: readonly string[]) => await passOver(hasher.passOf(project), passwords),
  };
}

async function passOver(hashes: PassHashes, passwords: readonly string[]) {
  const made: (string | undefined)[] = [];
  for (const password of passwords) made.push(await hashes.hashPassword(password));
  hashes.end();
  return made;
}

describe("a password", () => {
  test("is hashed beside the pass that asks, and its Project is due once it is", async () => {
    const { pass, makeNext, due } = hasherOf();
    expect(await pass("team/shop", ["secret"])).toEqual([undefined]);
    expect(await pass("team/shop", ["secret"])).toEqual([undefined]);
    expect(due).toEqual([]);
    await makeNext();
    expect(due).toEqual([["team/shop"]]);
    expect(await pass("team/shop", ["secret"])).toEqual(["hash of secret"]);
  });

  test("of many users of one Project is hashed once, and in another Project once more", async () => {
    const { pass, makeNext, begun } = hasherOf();
    await pass("team/shop", ["shared", "shared", "shared"]);
    await makeNext();
    const made = await pass("team/shop", ["shared", "shared"]);
    expect(made).toEqual(["hash of shared", "hash of shared"]);
    await pass("other/shop", ["shared"]);
    expect(begun()).toEqual(["shared", "shared"]);
  });

  test("that changes before its turn is never hashed, and one that was hashed is forgotten", async () => {
    const { pass, makeNext, begun } = hasherOf();
    await pass("team/shop", ["first", "one"]);
    await pass("team/shop", ["first", "two"]);
    await makeNext();
    await makeNext();
    expect(begun()).toEqual(["first", "two"]);
    await pass("team/shop", []);
    expect(await pass("team/shop", ["two"])).toEqual([undefined]);
  });

  test("that was made here costs nothing, and is hashed at once", async () => {
    const { hasher, begun } = hasherOf();
    expect(await hasher.passOf("team/shop").hashPassword("made", generatedPasswordCost)).toBe("cheap made");
    expect(begun()).toEqual([]);
  });

  test("that can't be used is refused at once", async () => {
    const { pass } = hasherOf();
    await expect(pass("team/shop", [""])).rejects.toThrow(PasswordRefused);
  });

  test("whose hash fails fails the pass that comes for it, and is tried anew by the next one", async () => {
    const { pass, fail, begun, due } = hasherOf();
    await pass("team/shop", ["secret"]);
    await fail(new Error("out of memory"));
    expect(due).toEqual([["team/shop"]]);
    await expect(pass("team/shop", ["secret"])).rejects.toThrow("out of memory");
    await pass("team/shop", ["secret"]);
    expect(begun()).toEqual(["secret", "secret"]);
  });
});

describe("many passwords", () => {
  test("are hashed a limited number at a time; namespaces take turns", async () => {
    const { pass, makeNext, begun } = hasherOf(1);
    await pass("busy/a", ["a1", "a2", "a3"]);
    await pass("busy/b", ["b1", "b2"]);
    await pass("quiet/p", ["q1"]);
    expect(begun()).toEqual(["a1"]);
    for (let hash = 0; hash < 6; hash += 1) await makeNext();
    expect(begun()).toEqual(["a1", "a2", "q1", "a3", "b1", "b2"]);
  });

  test("cause few passes: a Project is due at once when all of them are there, and in a while after each before", async () => {
    const { pass, makeNext, due } = hasherOf();
    await pass("team/shop", ["one", "two"]);
    await makeNext();
    await makeNext();
    expect(due).toEqual([["team/shop", 500], ["team/shop"]]);
  });

  test("are left when the leader stops", async () => {
    const { hasher, pass, makeNext, begun } = hasherOf();
    await pass("team/shop", ["one", "two"]);
    hasher.stop();
    await makeNext();
    expect(begun()).toEqual(["one"]);
  });
});
