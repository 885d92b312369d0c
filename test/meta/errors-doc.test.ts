import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { errorCatalogue } from "../../core/errors/catalogue.ts";

it("docs/reference/errors.md lists every code of the catalogue with its status and title, and no other", () => {
  const text = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` \| (\d{3}) \| (.+) \|$/gm)].map(([, code, status, title]) => [
    code,
    Number(status),
    title,
  ]);
  expect(rows).toEqual(Object.entries(errorCatalogue).map(([code, { status, title }]) => [code, status, title]));
});
