import { expect, it } from "vitest";
import { backupName, isMeant, readBackupName } from "../../../../cli/backup/file-names.ts";

const project = { namespace: "team-a", name: "shop" };
const time = Date.parse("2026-11-30T02:17:00.042Z");

it("a name says its Project, its time and whether it is encrypted, and has no character that shells or URLs change", () => {
  const name = backupName(project, time, true);
  expect(name).toBe("team-a/shop/2026-11-30T02-17-00.042Z.ndjson.gz.age");
  expect(readBackupName(name)).toEqual({ name, project: "team-a/shop", beganAt: time, isEncrypted: true });
  expect(readBackupName(backupName(project, time, false))).toMatchObject({ beganAt: time, isEncrypted: false });
});

it.each([
  "team-a/shop/2026-11-30T02-17-00.042Z.ndjson.gz.0b3f.unfinished",
  "team-a/shop/2026-99-30T02-17-00.042Z.ndjson.gz",
  "team-a/2026-11-30T02-17-00.042Z.ndjson.gz",
  "notes.txt",
])("%s is no backup", (name) => {
  expect(readBackupName(name)).toBeUndefined();
});

it("a Project is meant by its name, by its namespace, or by all", () => {
  const meant = ["team-a/shop", "team-a/*", "*", "team-a/shops", "team/*", "*/shop"].map((pattern) =>
    isMeant("team-a/shop", [pattern]),
  );
  expect(meant).toEqual([true, true, true, false, false, false]);
});
