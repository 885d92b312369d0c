import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStateFile, emptyState } from "../../../../cli/dev/data-folder/dev-state.ts";
import { DataFolderLost, type HeldFiles, holdFiles } from "../../../../cli/dev/data-folder/held-files.ts";
import { createSecretFiles } from "../../../../cli/dev/data-folder/secret-files.ts";

let root = "";
let data = "";
let held: HeldFiles;
let open = 0;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "jsonplane-held-"));
  data = join(root, "data");
  mkdirSync(data);
  writeFileSync(join(data, "held"), "");
  open = openSync(join(data, "held"), "r");
  held = holdFiles("data");
  held.hold(join(data, "held"));
});

afterEach(() => {
  closeSync(open);
  rmSync(root, { recursive: true, force: true });
});

const replace = (): void => {
  rmSync(data, { recursive: true });
  mkdirSync(data);
  writeFileSync(join(data, "held"), "");
};

describe("a data folder in use", () => {
  it("is in its place whatever is written into it", () => {
    writeFileSync(join(data, "held"), "more");
    writeFileSync(join(data, "other"), "");
    expect(held.loss()).toBeUndefined();
    held.requireInPlace();
  });

  it.each<[string, () => void, string]>([
    ["removed", () => rmSync(data, { recursive: true }), "removed"],
    ["moved away", () => renameSync(data, join(root, "moved")), "removed"],
    ["robbed of the file that is open", () => rmSync(join(data, "held")), "removed"],
    ["replaced by another one", replace, "replaced"],
  ])("is lost once it was %s", (_, harm, loss) => {
    harm();
    expect(held.loss()).toBe(loss);
    expect(() => held.requireInPlace()).toThrow(new DataFolderLost(`The data folder data was ${loss}`));
  });

  it("stays lost when it comes back, because it may have been changed in between", () => {
    renameSync(data, join(root, "moved"));
    expect(held.loss()).toBe("removed");
    renameSync(join(root, "moved"), data);
    expect(held.loss()).toBe("removed");
  });

  it("gets nothing written, read or removed in it once it is lost: neither Secrets nor the state of objects", async () => {
    const secrets = createSecretFiles(join(data, "secrets"), held.requireInPlace);
    const state = createStateFile(join(data, "objects.json"), held.requireInPlace);
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
