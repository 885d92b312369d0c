// Follows the cluster parts of the tutorial and the guides on a real API server with operator and
// replica: the files that the page shows, and every line that wants a cluster, pasted and its
// answer compared. Installing itself is test/e2e's.

import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { followPage } from "../support/documents/documented-page.ts";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { pasteShell } from "../support/documents/paste-shell.ts";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
const guides = (await readdir(join(docs, "how-to"))).map((name) => `how-to/${name}`);
const texts = await Promise.all(
  ["tutorial.md", "gitops.md", ...guides].map(
    async (page) => [page, await readFile(join(docs, page), "utf8")] as const,
  ),
);
const wantsCluster = ([, text]: readonly [string, string]): boolean =>
  fencedBlocks(text).some(({ language, words }) => language === "sh" && words.includes("cluster"));

/** Files that the parts of a page for development mode leave behind. */
const leftByDevMode = {
  "todo.ndjson": exported(
    { jsonplane: "export", version: 1, exportedAt: "2025-08-21T12:00:00.000Z", resources: ["tasks"], rootKeys: [] },
    {
      resource: "tasks",
      object: {
        id: "0198c9a2-7d4e-7c3a-9b1f-3f6f0c2d4e5a",
        title: "Write a launch plan",
        _metadata: { created: 1_755_729_526, creator: "import", creator_type: "apikey" },
      },
    },
  ),
};

function exported(...items: readonly unknown[]): string {
  const lines = items.map((item) => `${JSON.stringify(item)}\n`).join("");
  const sha256 = createHash("sha256").update(lines).digest("hex");
  return `${lines}${JSON.stringify({ end: true, lines: items.length - 1, sha256 })}\n`;
}

let fleet: Fleet;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  fleet = await sharedFleet();
});

afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

it.each(texts.filter(wantsCluster))("what docs/%s says of a cluster is what happens there", async (_page, text) => {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-docs-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  for (const [file, left] of Object.entries(leftByDevMode)) await writeFile(join(folder, file), left);
  await mkdir(join(folder, "bin"));
  await symlink(join(docs, "../bin/jsonplane"), join(folder, "bin/jsonplane"));
  await mkdir(join(folder, "programs"));
  const kubectl = join(folder, "programs/kubectl");
  await writeFile(kubectl, `#!/bin/sh\nHOME=${folder} exec ${fleet.api.programs.kubectl} "$@"\n`);
  await chmod(kubectl, 0o755);
  const shell = pasteShell(folder, {
    PATH: `${join(folder, "programs")}:${process.env.PATH}`,
    KUBECONFIG: await fleet.api.kubeconfig(),
  });
  closing.push(() => shell.stop());
  const origin = fleet.replicas[0]?.origin ?? "";
  const never = () => Promise.reject(new Error("There is no development mode here"));
  const deviations = await followPage(text, {
    folder,
    kind: "cluster",
    async paste(lines) {
      const { printed, code } = await shell.paste(lines.replaceAll("http://127.0.0.1:8080", origin));
      return { printed: printed.replaceAll(origin, "http://127.0.0.1:8080"), code };
    },
    startDev: never,
    devSays: never,
    mark: () => undefined,
  });
  expect(deviations).toEqual([]);
});
