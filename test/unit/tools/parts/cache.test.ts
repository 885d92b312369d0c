import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { cacheFolder, fillCacheFolder } from "../../../../tools/parts/cache.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-cache-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("the cache is where the environment says", () => {
  expect(cacheFolder({ JSONPLANE_CACHE: "/a", XDG_CACHE_HOME: "/b", HOME: "/c" })).toBe("/a");
  expect(cacheFolder({ XDG_CACHE_HOME: "/b", HOME: "/c" })).toBe("/b/jsonplane");
  expect(cacheFolder({ HOME: "/c" })).toBe("/c/.cache/jsonplane");
});

it("a folder of the cache is the same wherever the program runs that a relative path is told to", () => {
  expect(cacheFolder({ JSONPLANE_CACHE: "a" })).toBe(join(process.cwd(), "a"));
});

it("a folder of the cache in which the part was not found is replaced, once its successor is whole", async () => {
  await writeFile(join(folder, "part"), "not even a folder");
  await expect(fillCacheFolder(folder, "part", () => Promise.reject(new Error("cut off")))).rejects.toThrow("cut off");
  expect(await readdir(folder)).toEqual(["part"]);
  for (const name of ["first", "second"]) {
    await fillCacheFolder(folder, "part", (draft) => writeFile(join(draft, name), ""));
    expect(await readdir(join(folder, "part"))).toEqual([name]);
  }
});

it("a folder of the cache is there whole or not at all", async () => {
  await fillCacheFolder(folder, "part", async (draft) => {
    await writeFile(join(draft, "half"), "");
    expect(existsSync(join(folder, "part"))).toBe(false);
  });
  expect(await readdir(join(folder, "part"))).toEqual(["half"]);
});

it("nothing is kept of a fetch that failed", async () => {
  const failing = fillCacheFolder(folder, "part", () => Promise.reject(new Error("cut off")));
  await expect(failing).rejects.toThrow("cut off");
  expect(await readdir(folder)).toEqual([]);
});

it("what a process that was killed left behind goes with the next fetch of that part", async () => {
  await mkdir(join(folder, ".part-AbCdEf"));
  await mkdir(join(folder, ".other-AbCdEf"));
  await fillCacheFolder(folder, "part", async () => undefined);
  expect((await readdir(folder)).sort()).toEqual([".other-AbCdEf", "part"]);
});
