import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generateAll } from "../../tools/generate.ts";
import { root } from "../../tools/read-crds.ts";

test("what is generated is what stands in the repository: else run `npm run generate`", async () => {
  const generated = await generateAll();
  for (const [path, text] of generated) expect(await readFile(join(root, path), "utf8"), path).toBe(text);
  const present = await readdir(join(root, "core/manifests/generated"));
  const expected = Array.from(generated.keys(), (path) => path.split("/").at(-1));
  expect(expected).toEqual(expect.arrayContaining(present));
});
