import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mapLimited } from "../../core/map-limited.ts";
import { type TextCase, textCases } from "../manifests/texts.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import { KubectlFailed } from "../support/kubernetes/kubectl.ts";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kubectl-texts-"));
});

afterAll(() => rm(folder, { recursive: true }));

describe("kubectl reads of a file", () => {
  test("what `jsonplane validate` reads, and refuses or cuts short what it refuses", async () => {
    const server = await sharedApiServer();
    const applied = async ({ title, file, content }: TextCase) => {
      const path = join(await mkdtemp(join(folder, "case-")), file);
      await writeFile(path, content);
      const args = ["apply", "--dry-run=server", "-o", "name", "-f", path];
      const out = await server.kubectl(args).catch((error: unknown) => {
        if (error instanceof KubectlFailed) return error.stdout;
        throw error;
      });
      return { title, names: out.split("\n").flatMap((line) => line.split("/")[1] ?? []) };
    };
    const answers = await mapLimited(textCases(), 2, applied);
    const expected = textCases().map(({ title, read, kubectlReads = [] }) => ({ title, names: read ?? kubectlReads }));
    expect(answers).toEqual(expected);
  });
});
