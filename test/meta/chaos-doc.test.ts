import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../tools/read-crds.ts";
import { scenarios } from "../chaos/scenarios.ts";

it("docs/chaos.md has every scenario, and no other", async () => {
  const page = await readFile(join(root, "docs/chaos.md"), "utf8");
  const rows = [...page.matchAll(/^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \| \S/gm)].map(([, names = ""]) => names);
  const named = rows.flatMap((names) => names.replaceAll("`", "").split(", "));
  expect(named).toEqual(scenarios.map(({ name }) => name));
});
