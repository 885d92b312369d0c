// openapi-typescript, which makes TypeScript types of an OpenAPI document:
// JSONPLANE_OPENAPI_TYPESCRIPT, the PATH, then the cache folder, where a pinned release is
// installed with the TypeScript 5 that it is written for: the project's own is newer than it takes.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, fillCacheFolder } from "./cache.ts";
import { type Part, partMissing } from "./part.ts";
import { unlessDamaged } from "./program-version.ts";
import { findProgram } from "./programs.ts";
import { lastWords, runCommand } from "./run-command.ts";

const version = "7.13.0";
const typescriptVersion = "5.9.3";
const ways = [
  `install it: npm install --global openapi-typescript@${version} typescript@${typescriptVersion}`,
  "or set JSONPLANE_OPENAPI_TYPESCRIPT to the path of its program",
];

const variable = "JSONPLANE_OPENAPI_TYPESCRIPT";
const folderName = `openapi-typescript-${version}`;
const programPath = "node_modules/.bin/openapi-typescript";

export const openapiTypescript: Part = {
  name: "openapi-typescript",
  firstTime: "installed by npm into the cache, some 10 seconds",
  ways,
  variable,
  async find(env) {
    const cached = join(cacheFolder(env), folderName, programPath);
    return unlessDamaged(findProgram({ name: "openapi-typescript", variable, cached, ways }, env), ["--version"]);
  },
  async bring(env, { onProgress, signal }) {
    onProgress("installing");
    await fillCacheFolder(cacheFolder(env), folderName, (folder) => install(folder, signal));
  },
  versionOf: async ({ origin }) => (origin === "cache" ? version : undefined),
};

async function install(folder: string, signal: AbortSignal): Promise<void> {
  await writeFile(join(folder, "package.json"), '{"private":true}\n');
  const packages = [`openapi-typescript@${version}`, `typescript@${typescriptVersion}`];
  const done = await runCommand("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], {
    cwd: folder,
    signal,
  });
  if (done.code !== 0) throw partMissing(`openapi-typescript can't be installed:\n${lastWords(done)}`, ways);
}
