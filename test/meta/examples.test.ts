import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listFiles } from "../../cli/manifests/list-files.ts";
import { runValidate } from "../../cli/validate/run-validate.ts";
import { root } from "../../tools/read-crds.ts";

test("the examples are valid, together and one by one", async () => {
  for (const file of ["", ...(await readdir(join(root, "examples")))]) {
    const lines: string[] = [];
    expect(
      await runValidate(join(root, "examples", file), { strict: true }, (line) => lines.push(line)),
      lines.join("\n"),
    ).toBe(0);
    expect(lines).toHaveLength(1);
  }
});

test("the examples hold no secret", async () => {
  for (const file of (await listFiles(join(root, "examples"))).filter((path) => path.endsWith(".yaml"))) {
    expect(await readFile(file, "utf8")).not.toMatch(/^kind: Secret$/m);
  }
});
