import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { type Content, listContents } from "../../tools/image/contents.ts";
import { imageBuild } from "../support/chart/image-build.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let contents: readonly Content[];
let paths: readonly string[];

beforeAll(async () => {
  contents = await listContents(imageBuild().built);
  paths = contents.map(({ path }) => path);
});

it("holds the compiled program, its packages and the licence, and no other folder", () => {
  expect([...new Set(paths.map((path) => path.split("/")[0]))].sort()).toEqual([
    "LICENSE",
    "dist",
    "node_modules",
    "package.json",
  ]);
  expect(paths).toContain("dist/cli/main.js");
});

it("holds every package that the lock file wants in production, none for development and no optional one", async () => {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  const { dependencies, devDependencies, optionalDependencies } = lock.packages[""];
  const wanted = Object.keys(dependencies).filter((name) => !paths.includes(`node_modules/${name}/package.json`));
  expect(wanted).toEqual([]);
  const packages = paths.flatMap(
    (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path)?.[1] ?? [],
  );
  const own = packages.filter((path) => path in lock.packages);
  expect(own.filter((path) => lock.packages[path].dev === true)).toEqual([]);
  const named = own.map((path) => path.replace(/^node_modules\//, ""));
  expect(named.filter((name) => name in { ...devDependencies, ...optionalDependencies })).toEqual([]);
});

it("holds no source, no test and no map", () => {
  expect(paths.filter((path) => /\.([cm]?ts|map|c|h)$/.test(path))).toEqual([]);
  expect(paths.filter((path) => /(^|\/)(__tests__|test|tests)\//.test(path) && !path.includes("/dist/"))).toEqual([]);
  expect(paths.filter((path) => /\.(test|spec)\.[cm]?js$/.test(path))).toEqual([]);
});

it("holds compiled modules for this processor and glibc alone", () => {
  const modules = paths.filter((path) => path.endsWith(".node"));
  expect(modules).toHaveLength(1);
  expect(modules[0]).toContain(`linux-${process.arch}/`);
});

it("makes one file executable: the program", () => {
  expect(contents.filter(({ executable }) => executable).map(({ path }) => path)).toEqual(["dist/cli/main.js"]);
});

it("refuses a clone that wasn't built", async () => {
  await expect(listContents(join(imageBuild().built, "nothing"))).rejects.toThrow("run `npm run build` first");
});
