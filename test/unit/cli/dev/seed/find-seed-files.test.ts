// Which file of a seed is for what.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findSeedFiles } from "../../../../../cli/dev/seed/read-seed.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "jsonplane-seed-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), "[]");
}

it("a file is for the resource or root key of its name, of the Project and the kind that its folders say", async () => {
  const of = (namespace: string, name: string) => ({ project: { namespace, name } });
  const expected = {
    "api/books.json": { kind: "api", name: "books", isLines: false },
    "blog/api/json/flags.json": { ...of("blog", "api"), kind: "json", name: "flags", isLines: false },
    "books.jsonl": { name: "books", isLines: true },
    "books.v2.ndjson": { name: "books.v2", isLines: true },
    "default/shop/films.json": { ...of("default", "shop"), name: "films", isLines: false },
  };
  const others = [
    "README.md",
    ".hidden.json",
    ".git/books.json",
    "shop/books.json",
    "a/b/c/d/books.json",
    "a/b/c/books.json",
  ];
  for (const path of [...Object.keys(expected), ...others]) put(path);
  const found = await findSeedFiles(folder);
  expect(
    Object.fromEntries(found.map(({ path, version: _, ...file }) => [path.slice(folder.length + 1), file])),
  ).toEqual(expected);
});

it("one file is for what it is called, wherever it is", async () => {
  put("api/books.json");
  expect(await findSeedFiles(join(folder, "api/books.json"))).toMatchObject([{ name: "books", isLines: false }]);
});

it("a file has another version once it is written", async () => {
  put("books.json");
  const [before] = await findSeedFiles(folder);
  writeFileSync(join(folder, "books.json"), "[ ]");
  const [after] = await findSeedFiles(folder);
  expect(after?.version).not.toBe(before?.version);
});

it("a folder of thousands of files is no seed, and not walked to its end", async () => {
  for (let index = 0; index <= 1_000; index += 1) put(`${index}.json`);
  await expect(findSeedFiles(folder)).rejects.toThrow(`${folder} has more than 1000 files`);
});
