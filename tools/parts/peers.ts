// The servers that benchmarks compare jsonplane with: PocketBase, Webdis and Kinto. Each is found by the environment, on the PATH, in
// the cache, or fetched into it (built with Go, Debian's package, the Python package index). Refuses with PartMissing.

import { join } from "node:path";
import { findProgram } from "./built-program.ts";
import { cachedFolder, cacheFolder, type Environment } from "./cache.ts";
import { UnpackFailed, unpackPackages } from "./debian-packages.ts";
import { partMissing } from "./part-missing.ts";
import { isProgram, onPath } from "./programs.ts";
import { pythonWithPip } from "./python.ts";
import { lastWords, runCommand } from "./run-command.ts";

export const pocketBaseVersion = "0.36.8";
const kintoVersion = "26.5.0";

/** The path of a PocketBase: JSONPLANE_POCKETBASE, `pocketbase` on the PATH, or built once with Go. */
export async function findPocketBase(env: Environment): Promise<string> {
  const variable = "JSONPLANE_POCKETBASE";
  const source = {
    name: "pocketbase",
    module: "pocketbase",
    package: ".",
    linkerFlags: `-X main.version=${pocketBaseVersion}`,
    takes: "some 3 minutes, once",
    ways: ["install Go 1.21 or newer and run this again", `or set ${variable} to the path of a PocketBase`],
    variables: [variable],
    versionArgs: ["--version"],
    version: pocketBaseVersion,
    cached: `pocketbase-${pocketBaseVersion}`,
  };
  return (await findProgram(env, source, () => true)).path;
}

export interface Webdis {
  readonly path: string;
  /** What it has to find its libraries by. */
  readonly env: Readonly<Record<string, string>>;
}

/** JSONPLANE_WEBDIS, `webdis` on the PATH, or Debian's packages, unpacked in the cache. */
export async function findWebdis(env: Environment): Promise<Webdis> {
  const ways = ["install Webdis (Debian, Ubuntu: sudo apt-get install webdis)", "or set JSONPLANE_WEBDIS to its path"];
  const named = env.JSONPLANE_WEBDIS ?? onPath("webdis", env);
  if (named) {
    if (isProgram(named)) return { path: named, env: {} };
    throw partMissing(`${named} is not a program that can be run`, ways);
  }
  const packages = ["webdis", "libb64-0d", "libhiredis0.14", "libevent-2.1-7", "libjansson4"];
  try {
    const folder = await cachedFolder(cacheFolder(env), "webdis-debian", (draft) =>
      unpackPackages(env, packages, draft),
    );
    const libraries = join(folder, "usr/lib/x86_64-linux-gnu");
    return { path: join(folder, "usr/bin/webdis"), env: { LD_LIBRARY_PATH: libraries } };
  } catch (error) {
    if (!(error instanceof UnpackFailed)) throw error;
    throw partMissing(`Webdis is missing, and Debian's can't be unpacked: ${error.message}`, ways);
  }
}

/** The path of a `kinto` with its Redis backends: JSONPLANE_KINTO, or an environment of Python's own in the cache. */
export async function findKinto(env: Environment): Promise<string> {
  const ways = ["pip install kinto kinto-redis waitress, and set JSONPLANE_KINTO to the path of the program kinto"];
  const named = env.JSONPLANE_KINTO;
  if (named) {
    if (isProgram(named)) return named;
    throw partMissing(`JSONPLANE_KINTO names ${named}, which is not a program that can be run`, ways);
  }
  const python = await pythonWithPip(env);
  const shelf = cacheFolder(env);
  // Its programs name the folder that they were installed into, so it is filled where it stays.
  const name = `kinto-${kintoVersion}`;
  const folder = join(shelf, name);
  await cachedFolder(shelf, `${name}-installed`, async () => {
    const steps = [
      [python, "-m", "venv", folder],
      [
        join(folder, "bin/pip"),
        "install",
        "--quiet",
        `kinto==${kintoVersion}`,
        "kinto-redis==2.1.0",
        "waitress==3.0.2",
      ],
    ] as const;
    for (const [program, ...args] of steps) {
      const done = await runCommand(program, args);
      if (done.code !== 0) throw partMissing(`Kinto can't be installed:\n${lastWords(done)}`, ways);
    }
  });
  return join(folder, "bin/kinto");
}
