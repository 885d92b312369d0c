import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type FolderWatch, watchFolders } from "../../../../cli/dev/apply/watch-folder.ts";
import { eventually } from "../../../support/time/eventually.ts";

let folder = "";
let changes = 0;
let watching: FolderWatch;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "jsonplane-watch-"));
  mkdirSync(join(folder, "inner", "most"), { recursive: true });
  mkdirSync(join(folder, ".hidden"));
  changes = 0;
  const onChange = () => {
    changes += 1;
  };
  watching = watchFolders({ paths: [folder, join(folder, "later")], onChange, quietMs: 20, pollMs: 60_000 });
  await watching.ready;
});
afterEach(() => {
  watching.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function expectReported(change: () => void): Promise<void> {
  const before = changes;
  change();
  await eventually(() => expect(changes).toBeGreaterThan(before));
}

it("tells of files that are written, replaced and removed, at any depth", async () => {
  const file = join(folder, "inner", "most", "a.yaml");
  await expectReported(() => writeFileSync(file, "a"));
  writeFileSync(join(folder, ".swap"), "b");
  await expectReported(() => renameSync(join(folder, ".swap"), file));
  await expectReported(() => rmSync(file));
});

it("tells of what is written into a folder that is made later", async () => {
  await expectReported(() => mkdirSync(join(folder, "new")));
  await expectReported(() => writeFileSync(join(folder, "new", "a.yaml"), "a"));
  await expectReported(() => mkdirSync(join(folder, "later")));
  await expectReported(() => writeFileSync(join(folder, "later", "a.yaml"), "a"));
});

it("tells nothing of hidden files and folders", async () => {
  writeFileSync(join(folder, ".hidden", "a.yaml"), "a");
  writeFileSync(join(folder, ".a.yaml.swp"), "a");
  await sleep(200);
  expect(changes).toBe(0);
});

it("tells while changes go on without a pause", async () => {
  const busy = setInterval(() => writeFileSync(join(folder, "a.yaml"), String(Math.random())), 5);
  try {
    await eventually(() => expect(changes).toBeGreaterThan(1));
  } finally {
    clearInterval(busy);
  }
});

it("tells nothing once it is stopped", async () => {
  watching.stop();
  writeFileSync(join(folder, "a.yaml"), "a");
  await sleep(200);
  expect(changes).toBe(0);
});

it("sees without events what changed since it looked last", async () => {
  watching.stop();
  const file = join(folder, ".hidden", "a.yaml");
  const onChange = () => {
    changes += 1;
  };
  // A file's own watcher dies with the file that an editor replaces; looking goes on.
  writeFileSync(file, "a");
  watching = watchFolders({ paths: [file], onChange, quietMs: 20, pollMs: 50 });
  await watching.ready;
  rmSync(file);
  await eventually(() => expect(changes).toBeGreaterThan(0));
  await sleep(200);
  await expectReported(() => writeFileSync(file, "bc"));
});
