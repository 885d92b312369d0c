import { readFileSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { errorCatalogue } from "../../core/errors/catalogue.ts";
import { root } from "../../tools/read-crds.ts";

it("docs/reference/errors.md lists every code of the catalogue with its status and title, and no other", () => {
  const text = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` \| (\d{3}) \| (.+) \|$/gm)].map(([, code, status, title]) => [
    code,
    Number(status),
    title,
  ]);
  expect(rows).toEqual(Object.entries(errorCatalogue).map(([code, { status, title }]) => [code, status, title]));
});

it("the detail of no problem ends with a full stop: some are followed by more text, and all look alike", async () => {
  const ended: string[] = [];
  let details = 0;
  for await (const path of glob("{core,dataplane}/**/*.ts", { cwd: root })) {
    const text = await readFile(join(root, path), "utf8");
    for (const [, detail = ""] of text.matchAll(/\bnew Problem\(\s*"\w+",\s*["`]((?:\\.|[^"\\])*?)["`],?\s*[,)]/g)) {
      details += 1;
      if (/[.!]$/.test(detail)) ended.push(`${path}: ${detail}`);
    }
  }
  expect(ended).toEqual([]);
  expect(details).toBeGreaterThan(60);
});
