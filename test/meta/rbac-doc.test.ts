import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { grantedVerbs } from "../support/kubernetes/rbac.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFile(new URL(path, root), "utf8");

/** "verb resource" of one column of the table, counted from the resource's. */
async function documented(column: number): Promise<readonly string[]> {
  const rows = (await read("docs/reference/rbac.md")).split("\n").filter((line) => line.startsWith("| `"));
  return rows.flatMap((row) => {
    const cells = row.split("|").map((cell) => cell.trim());
    const resource = cells[1]?.replaceAll("`", "") ?? "";
    const verbs = cells[1 + column]?.split(" ").filter(Boolean) ?? [];
    return verbs.map((verb) => `${verb} ${resource}`);
  });
}

const columns = { "cluster.yaml": 1, "namespaced.yaml": 2, "operator.yaml": 3 };

describe("docs/reference/rbac.md", () => {
  test.for(Object.entries(columns))("says what deploy/rbac/%s grants, and no more", async ([file, column]) => {
    expect([...(await documented(column))].sort()).toEqual([...grantedVerbs(await read(`deploy/rbac/${file}`))].sort());
  });
});

test("no manifest of rights has a wildcard or a right to escalate", async () => {
  for (const file of [...Object.keys(columns), "users.yaml"]) {
    const verbs = [...grantedVerbs(await read(`deploy/rbac/${file}`))];
    expect(verbs.length).toBeGreaterThan(0);
    expect(verbs.filter((verb) => /^(bind|escalate|impersonate) |rbac|serviceaccounts|pods/.test(verb))).toEqual([]);
  }
});
