import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type FolderWatch, watchFolders } from "../../../../cli/dev/watch-folder.ts";
import { eventually } from "../../../support/time/eventually.ts";

let folder = "";
let told = 0;
let watching: FolderWatch;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "jsonplane-watch-"));
  mkdirSync(join(folder, "inner", "most"), { recursive: true });
  mkdirSync(join(folder, ".hidden"));
  told = 0;
  const onChange = () => {
    told += 1;
  };
  watching = watchFolders({ paths: [folder, join(folder, "later")], onChange, quietMs: 20, lookEveryMs: 60_000 });
  await watching.ready;
});
afterEach(() => {
  watching.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function isToldOf(change: () => void): Promise<void> {
  const before = told;
  change();
  await eventually(() => expect(told).toBeGreaterThan(before));
}

it("tells of files that are written, replaced and removed, at any depth", async () => {
  const file = join(folder, "inner", "most", "a.yaml");
  await isToldOf(() => writeFileSync(file, "a"));
  writeFileSync(join(folder, ".swap"), "b");
  await isToldOf(() => renameSync(join(folder, ".swap"), file));
  await isToldOf(() => rmSync(file));
});

it("tells of what is written into a folder that is made later", async () => {
  await isToldOf(() => mkdirSync(join(folder, "new")));
  await isToldOf(() => writeFileSync(join(folder, "new", "a.yaml"), "a"));
  await isToldOf(() => mkdirSync(join(folder, "later")));
  await isToldOf(() => writeFileSync(join(folder, "later", "a.yaml"), "a"));
});

it("tells nothing of hidden files and folders", async () => {
  writeFileSync(join(folder, ".hidden", "a.yaml"), "a");
  writeFileSync(join(folder, ".a.yaml.swp"), "a");
  await sleep(200);
  expect(told).toBe(0);
});

it("tells while changes go on without a pause", async () => {
  const busy = setInterval(() => writeFileSync(join(folder, "a.yaml"), String(Math.random())), 5);
  try {
    await eventually(() => expect(told).toBeGreaterThan(1));
  } finally {
    clearInterval(busy);
  }
});

it("tells nothing once it is stopped", async () => {
  watching.stop();
  writeFileSync(join(folder, "a.yaml"), "a");
  await sleep(200);
  expect(told).toBe(0);
});

it("sees without events what changed since it looked last", async () => {
  watching.stop();
  const file = join(folder, ".hidden", "a.yaml");
  const onChange = () => {
    told += 1;
  };
  // A file's own watcher dies with the file that an editor replaces; looking goes on.
  writeFileSync(file, "a");
  watching = watchFolders({ paths: [file], onChange, quietMs: 20, lookEveryMs: 50 });
  await watching.ready;
  rmSync(file);
  await eventually(() => expect(told).toBeGreaterThan(0));
  await sleep(200);
  await isToldOf(() => writeFileSync(file, "bc"));
});
