// Finds schemathesis, which makes requests of an OpenAPI document: JSONPLANE_SCHEMATHESIS, the PATH, then the cache folder, where a
// pinned release of the Python package index is installed apart from everything else. Refuses with PartMissing.

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, type Environment } from "./cache.ts";
import { PartMissing, partMissing } from "./part-missing.ts";
import { lastWords, runCommand } from "./run-command.ts";

const version = "4.32.5";

const ways: readonly string[] = [
  `install it: pipx install schemathesis==${version}`,
  "or set JSONPLANE_SCHEMATHESIS to the path of its program",
];

/** The name or path of the program. */
export async function findSchemathesis(env: Environment): Promise<string> {
  const named = env.JSONPLANE_SCHEMATHESIS;
  if (named) {
    if (existsSync(named)) return named;
    throw new PartMissing(`JSONPLANE_SCHEMATHESIS names ${named}, which does not exist`);
  }
  const present = await runCommand("schemathesis", ["--version"]);
  if (present.code === 0) return "schemathesis";
  return await installed(join(cacheFolder(env), `schemathesis-${version}`));
}

/** A folder of this kind can't be renamed, so it counts only once its last file is there. */
async function installed(folder: string): Promise<string> {
  const program = join(folder, "bin", "schemathesis");
  if ((await runCommand(program, ["--version"])).code === 0) return program;
  await rm(folder, { recursive: true, force: true });
  await must("python3", ["-m", "venv", folder]);
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--only-binary=:all:"];
  await must(join(folder, "bin", "pip"), ["install", ...quiet, `schemathesis==${version}`]);
  return program;
}

async function must(command: string, args: readonly string[]): Promise<void> {
  const done = await runCommand(command, args);
  if (done.code !== 0) throw partMissing(`schemathesis can't be installed:\n${lastWords(done)}`, ways);
}
