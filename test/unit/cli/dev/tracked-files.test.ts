import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStateFile, emptyState } from "../../../../cli/dev/data-folder/dev-state.ts";
import { createSecretFiles } from "../../../../cli/dev/data-folder/secret-files.ts";
import { DataFolderLost, type TrackedFiles, trackFiles } from "../../../../cli/dev/data-folder/tracked-files.ts";

let root = "";
let data = "";
let tracked: TrackedFiles;
let open = 0;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "jsonplane-tracked-"));
  data = join(root, "data");
  mkdirSync(data);
  writeFileSync(join(data, "tracked"), "");
  open = openSync(join(data, "tracked"), "r");
  tracked = trackFiles("data");
  tracked.track(join(data, "tracked"));
});

afterEach(() => {
  closeSync(open);
  rmSync(root, { recursive: true, force: true });
});

const replace = (): void => {
  rmSync(data, { recursive: true });
  mkdirSync(data);
  writeFileSync(join(data, "tracked"), "");
};

describe("a data folder in use", () => {
  it("is in its place whatever is written into it", () => {
    writeFileSync(join(data, "tracked"), "more");
    writeFileSync(join(data, "other"), "");
    expect(tracked.loss()).toBeUndefined();
    tracked.requireInPlace();
  });

  it.each<[string, () => void, string]>([
    ["removed", () => rmSync(data, { recursive: true }), "removed"],
    ["moved away", () => renameSync(data, join(root, "moved")), "removed"],
    ["robbed of the file that is open", () => rmSync(join(data, "tracked")), "removed"],
    ["replaced by another one", replace, "replaced"],
  ])("is lost once it was %s", (_, harm, loss) => {
    harm();
    expect(tracked.loss()).toBe(loss);
    expect(() => tracked.requireInPlace()).toThrow(new DataFolderLost(`The data folder data was ${loss}`));
  });

  it("stays lost when it comes back, because it may have been changed in between", () => {
    renameSync(data, join(root, "moved"));
    expect(tracked.loss()).toBe("removed");
    renameSync(join(root, "moved"), data);
    expect(tracked.loss()).toBe("removed");
  });

  it("gets nothing written, read or removed in it once it is lost: neither Secrets nor the state of objects", async () => {
    const secrets = createSecretFiles(join(data, "secrets"), tracked.requireInPlace);
    const state = createStateFile(join(data, "objects.json"), tracked.requireInPlace);
    replace();
    const before = readdirSync(data);
    const secret = { namespace: "a", name: "b", type: "Opaque", labels: {}, annotations: {}, entries: {} };
    for (const attempt of [
      () => secrets.write(secret as never),
      () => secrets.read(),
      () => secrets.remove("a", "b"),
      () => state.write(emptyState),
    ]) {
      await expect(attempt()).rejects.toThrow(DataFolderLost);
    }
    expect(readdirSync(data)).toEqual(before);
  });
});
