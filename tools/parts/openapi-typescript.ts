// Finds openapi-typescript, which makes TypeScript types of an OpenAPI document: JSONPLANE_OPENAPI_TYPESCRIPT, the PATH, then the cache
// folder, where a pinned release is installed with the TypeScript 5 that it is written for: the project's own is newer than it takes.
// Refuses with PartMissing.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cachedFolder, cacheFolder, type Environment } from "./cache.ts";
import { partMissing } from "./part-missing.ts";
import { isProgram, onPath } from "./programs.ts";
import { lastWords, runCommand } from "./run-command.ts";

const version = "7.13.0";
const typescriptVersion = "5.9.3";
const ways = [
  `install it: npm install --global openapi-typescript@${version} typescript@${typescriptVersion}`,
  "or set JSONPLANE_OPENAPI_TYPESCRIPT to the path of its program",
];

/** The path of the program. */
export async function findOpenapiTypescript(env: Environment): Promise<string> {
  const named = env.JSONPLANE_OPENAPI_TYPESCRIPT ?? onPath("openapi-typescript", env);
  if (named) {
    if (isProgram(named)) return named;
    throw partMissing(`${named} is not a program that can be run`, ways);
  }
  const folder = await cachedFolder(cacheFolder(env), `openapi-typescript-${version}`, install);
  return join(folder, "node_modules/.bin/openapi-typescript");
}

async function install(folder: string): Promise<void> {
  await writeFile(join(folder, "package.json"), '{"private":true}\n');
  const packages = [`openapi-typescript@${version}`, `typescript@${typescriptVersion}`];
  const done = await runCommand("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], {
    cwd: folder,
  });
  if (done.code !== 0) throw partMissing(`openapi-typescript can't be installed:\n${lastWords(done)}`, ways);
}
