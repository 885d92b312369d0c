// Every Lua script says what it does, wants and answers, and means the same by its codes as the
// TypeScript next to it.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { code as knownCodes } from "../../dataplane/store/redis/store-script.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const storeScripts = "dataplane/store/redis";

const scripts = ["core", "dataplane", "operator"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".lua"))
    .map((path) => join(folder, path)),
);
const parts = scripts.filter((path) => path.includes("/parts/"));
const whole = scripts.filter((path) => !path.includes("/parts/"));

/** The sections of a header: `-- NAME: text`, gone on with in the lines below. */
function headerOf(lua: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  let current = "";
  for (const line of lua.split("\n")) {
    if (!line.startsWith("-- ")) break;
    const [, name, text = ""] = /^-- (Purpose|KEYS|ARGV|Returns): (.*)$/.exec(line) ?? [];
    current = name ?? current;
    sections.set(current, `${sections.get(current) ?? ""} ${name === undefined ? line.slice(3).trim() : text}`.trim());
  }
  return sections;
}

const read = (path: string) => readFileSync(join(root, path), "utf8");

describe("Lua scripts", () => {
  it("are found", () => expect(whole.length).toBeGreaterThan(20));

  for (const path of whole) {
    const lua = read(path);
    const header = headerOf(lua);

    it(`${path} says its purpose, keys, arguments and answers`, () => {
      expect([...header.keys()]).toEqual(["Purpose", "KEYS", "ARGV", "Returns"]);
    });

    it(`${path} wants as many keys as its name says`, () => {
      const keys = header.get("KEYS") ?? "";
      const [, count] = /-([0-9]+|n)\.lua$/.exec(path) ?? [];
      if (count === "n") return expect(keys).not.toBe("");
      const numbered = [...keys.matchAll(/(?:^|, )([0-9]+) /g)].map(([, number]) => Number(number));
      if (count === "1") return expect(numbered.length).toBeLessThanOrEqual(1);
      expect(numbered).toEqual(Array.from({ length: Number(count) }, (_, at) => at + 1));
    });
  }

  for (const path of parts) {
    it(`${path} says its purpose`, () => expect(read(path)).toMatch(/^-- Purpose: /));
  }
});

describe("scripts of the Redis store", () => {
  for (const path of whole.filter((script) => script.startsWith(storeScripts))) {
    const lua = read(path);
    const [, listed = ""] = /^local code = \{([^}]*)\}$/m.exec(lua) ?? [];
    const codes = [...listed.matchAll(/(\w+) = ([0-9]+)/g)].map(
      ([, name = "", value]) => [name, Number(value)] as const,
    );

    it(`${basename(path)} means by its codes what store-script.ts says, and names each one that it answers with`, () => {
      expect(codes.length).toBeGreaterThan(0);
      expect(knownCodes).toMatchObject(Object.fromEntries(codes));
      const body = lua.replace(/^-- include ([a-z-]+)$/gm, (_line, part: string) =>
        read(join(storeScripts, "parts", `${part}.lua`)),
      );
      for (const [name] of codes) expect(body).toContain(`code.${name}`);
    });
  }
});
