// The rights that docs/reference/redis.md gives to users of an own Redis are those that the
// operator gives in a bundled one.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { testedEngines } from "../../dataplane/store/redis/engine.ts";
import { programRules } from "../../operator/redis-users/redis-users.ts";

const page = readFileSync(new URL("../../docs/reference/redis.md", import.meta.url), "utf8");

describe("docs/reference/redis.md", () => {
  it("lists the engines that a replica calls tested, and no others", () => {
    const [, table = ""] = /^\| server, JSON module \| tested \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(page) ?? [];
    expect(
      table
        .split("\n")
        .slice(0, -1)
        .map((row) => row.split("|")[1]?.trim()),
    ).toEqual(testedEngines);
  });

  const users = ["jsonplane-operator", "jsonplane-dataplane", "jsonplane-backup"] as const;
  it.each(users)("gives %s the rights of a bundled Redis", (user) => {
    const lines = page.split("\n").filter((line) => line.startsWith(`ACL SETUSER ${user} `));
    const rights = lines.slice(1).map((line) => line.slice(`ACL SETUSER ${user} `.length));
    expect(rights).toEqual(programRules[user]);
  });
});
