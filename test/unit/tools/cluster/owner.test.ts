import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimCluster, requireOwnCluster } from "../../../../tools/cluster/owner.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../support/process/temporary-folder.ts";

let folder: TemporaryFolder;
let [cluster, first, second] = ["", "", ""];

beforeEach(async () => {
  folder = temporaryFolder("jsonplane-owner-");
  [cluster, first, second] = [join(folder.path, "cluster"), join(folder.path, "first"), join(folder.path, "second")];
  for (const path of [cluster, first, second]) await mkdir(path);
});
afterEach(() => folder.remove());

describe("the cluster of a machine", () => {
  it("is ended by the clone that started it, and not by another one, which may use it", async () => {
    expect(await claimCluster(cluster, first)).toBeUndefined();
    expect(await claimCluster(cluster, second)).toBe(first);
    await expect(requireOwnCluster(cluster, second)).rejects.toThrow(`clone in ${first}: run make cluster-down there`);
    await expect(requireOwnCluster(cluster, first)).resolves.toBeUndefined();
  });

  it("is ended by any clone where the one that started it is gone, or is not known", async () => {
    await expect(requireOwnCluster(cluster, second)).resolves.toBeUndefined();
    await claimCluster(cluster, first);
    await rm(first, { recursive: true });
    await expect(requireOwnCluster(cluster, second)).resolves.toBeUndefined();
  });
});
