import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkManifests } from "../../../../cli/manifests/check-manifests.ts";
import { readManifests } from "../../../../cli/manifests/read-manifests.ts";
import { textCases } from "../../../manifests/texts.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "texts-"));
});

afterEach(() => rm(folder, { recursive: true }));

describe("the table of files", () => {
  for (const { title, file, content, read } of textCases()) {
    test(`${title}: ${read === undefined ? "refused" : "read"}`, async () => {
      await writeFile(join(folder, file), content);
      const { manifests, problems } = checkManifests(await readManifests(folder));
      if (read === undefined) expect(problems.length).toBeGreaterThan(0);
      else
        expect({ names: manifests.map(({ manifest }) => manifest.metadata.name), problems }).toEqual({
          names: read,
          problems: [],
        });
    });
  }
});
