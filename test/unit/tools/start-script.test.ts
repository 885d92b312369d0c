import { readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { partMissing } from "../../../tools/parts/part.ts";
import { readArguments, WrongArguments, wholeNumber } from "../../../tools/script-arguments.ts";
import { failureOf, ScriptFailed } from "../../../tools/start-script.ts";

function refused(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code });
}

describe("what a person reads when a script fails", () => {
  it.each<readonly [string, Error, string]>([
    ["a failure that was foreseen, whole", new ScriptFailed("It failed:\nthis way"), "It failed:\nthis way"],
    [
      "a missing part with the ways to it",
      partMissing("There is no Redis", ["install it"]),
      "There is no Redis\n  - install it",
    ],
    ["wrong arguments", new WrongArguments("--seed is wrong"), "--seed is wrong"],
    ["an error in its own words", new Error("Project 3 answered 500"), "Project 3 answered 500"],
    ["what the system says", refused("ECONNREFUSED"), "connect ECONNREFUSED 127.0.0.1:1"],
    ["causes in brackets", new Error("No cluster.", { cause: new Error("etcd ended") }), "No cluster (etcd ended)"],
    [
      "a request that reached nobody, though it is a TypeError",
      new TypeError("fetch failed", { cause: refused("ECONNREFUSED") }),
      "fetch failed (connect ECONNREFUSED 127.0.0.1:1)",
    ],
  ])("is %s", (_, error, line) => {
    expect(failureOf(error)).toBe(line);
  });

  it("is the first line of a long message, and the file that has the rest", () => {
    const error = new Error("redis-server did not start; its log ends with:\nline 1\nline 2", {
      cause: new Error("it ended early"),
    });
    const line = failureOf(error) ?? "";
    expect(line).toMatch(/^redis-server did not start \(it ended early\)\. All that was said: \S+$/);
    const file = line.split(": ").at(-1) ?? "";
    const log = readFileSync(file, "utf8");
    rmSync(dirname(file), { recursive: true });
    expect(log).toContain("line 2");
    expect(log).toContain("it ended early");
  });

  it.each([
    ["a defect", new TypeError("x is not a function")],
    ["another defect", new ReferenceError("x is not defined")],
    ["what is no error", "a text"],
  ])("is nothing of %s, which keeps its stack", (_, error) => {
    expect(failureOf(error)).toBeUndefined();
  });
});

describe("the arguments of a script", () => {
  const flags = { seed: { type: "string" }, write: { type: "boolean", default: false } } as const;

  it("are flags with their values, and words", () => {
    const { values, words } = readArguments(flags, ["[COMMIT]"], ["--seed", "7", "abc"]);
    expect({ ...values, words }).toEqual({ seed: "7", write: false, words: ["abc"] });
  });

  it.each<readonly [string, readonly string[], readonly string[], string]>([
    ["an unknown flag", ["--wrte"], [], "Unknown option '--wrte'. It takes --seed SEED, --write"],
    [
      "a flag without its value",
      ["--seed"],
      [],
      "Option '--seed <value>' argument missing. It takes --seed SEED, --write",
    ],
    [
      "a flag in the place of a value",
      ["--seed", "--write"],
      [],
      "Option '--seed' argument is ambiguous. It takes --seed SEED, --write",
    ],
    ["a word where none is taken", ["abc"], [], "abc is not an argument of it. It takes --seed SEED, --write"],
    [
      "a word too many",
      ["a", "b"],
      ["[COMMIT]"],
      "b is not an argument of it. It takes --seed SEED, --write, [COMMIT]",
    ],
  ])("are refused when there is %s", (_, args, words, message) => {
    expect(() => readArguments(flags, words, args)).toThrow(new WrongArguments(message));
  });

  it("may end with a word that is repeated", () => {
    expect(readArguments({}, ["[ARCHIVE]…"], ["a", "b", "c"]).words).toEqual(["a", "b", "c"]);
  });

  it.each(["", "x", "-1", "1.5", "1e3", "0", "9".repeat(16)])(
    "have whole numbers, and %j is none of at least one",
    (text) => {
      expect(() => wholeNumber("--seed", text, 1)).toThrow(
        new WrongArguments(`--seed is ${JSON.stringify(text)}: it takes a whole number of at least 1`),
      );
      expect(wholeNumber("--seed", "12", 1)).toBe(12);
    },
  );
});
