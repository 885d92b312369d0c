import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../../../tools/parts/chromium.ts";
import { findOpenapiTypescript } from "../../../../tools/parts/openapi-typescript.ts";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-named-"));
  for (const name of ["google-chrome", "openapi-typescript", "mine"]) {
    await writeFile(join(folder, name), "#!/bin/sh\n");
    await chmod(join(folder, name), 0o755);
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each([
  ["a browser", findChromium, "JSONPLANE_CHROMIUM", "google-chrome"],
  ["openapi-typescript", findOpenapiTypescript, "JSONPLANE_OPENAPI_TYPESCRIPT", "openapi-typescript"],
] as const)("%s", (_what, find, variable, name) => {
  it("is the one that the environment names, before any on the PATH", async () => {
    expect(await find({ [variable]: join(folder, "mine"), PATH: folder })).toBe(join(folder, "mine"));
  });

  it("is found on the PATH", async () => {
    expect(await find({ PATH: folder })).toBe(join(folder, name));
  });

  it("is refused when the environment names something else than a program", async () => {
    await expect(find({ [variable]: join(folder, "gone"), PATH: folder })).rejects.toThrow(/gone/);
  });
});
