// Every Lua script says what it does, wants and answers, and means the same by its codes as the
// TypeScript next to it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
const includes = scripts.filter((path) => path.includes("/includes/"));
const whole = scripts.filter((path) => !path.includes("/includes/"));

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

  it("say their purpose, keys, arguments and answers", () => {
    const sections = whole.filter((path) => [...headerOf(read(path)).keys()].join() !== "Purpose,KEYS,ARGV,Returns");
    expect(sections).toEqual([]);
    expect(includes.filter((path) => !read(path).startsWith("-- Purpose: "))).toEqual([]);
  });

  it("want as many keys as their names say", () => {
    expect(whole.filter((path) => !wantsKeysOfName(path))).toEqual([]);
  });
});

function wantsKeysOfName(path: string): boolean {
  const keys = headerOf(read(path)).get("KEYS") ?? "";
  const [, count] = /-([0-9]+|n)\.lua$/.exec(path) ?? [];
  if (count === "n") return keys !== "";
  const numbered = [...keys.matchAll(/(?:^|, )([0-9]+) /g)].map(([, number]) => Number(number));
  if (count === "1") return numbered.length <= 1;
  return numbered.join() === Array.from({ length: Number(count) }, (_, at) => at + 1).join();
}

it("scripts of the Redis store mean by their codes what store-script.ts says, and name each one that they answer with", () => {
  const scriptsOfStore = whole.filter((path) => path.startsWith(storeScripts));
  for (const path of scriptsOfStore) {
    const lua = read(path);
    const [, listed = ""] = /^local code = \{([^}]*)\}$/m.exec(lua) ?? [];
    const codes = [...listed.matchAll(/(\w+) = ([0-9]+)/g)].map(
      ([, name = "", value]) => [name, Number(value)] as const,
    );
    expect(codes, path).not.toEqual([]);
    expect(knownCodes, path).toMatchObject(Object.fromEntries(codes));
    const body = lua.replace(/^-- include ([a-z-]+)$/gm, (_line, include: string) =>
      read(join(storeScripts, "includes", `${include}.lua`)),
    );
    for (const [name] of codes) expect(body, path).toContain(`code.${name}`);
  }
});
