// The servers that benchmarks compare jsonplane with: PocketBase, Webdis and Kinto. Each is found by the environment, on the PATH, in
// the cache, or fetched into it (built with Go, Debian's package, the Python package index).

import { join } from "node:path";
import { builtProgram } from "./built-program.ts";
import { cacheFolder, type Environment, fillCacheFolder } from "./cache.ts";
import { orMissing, unpackPackages } from "./debian-packages.ts";
import { installGo } from "./go.ts";
import { type Part, requirePart } from "./part.ts";
import { findProgram } from "./programs.ts";
import { installedFromPypi } from "./python.ts";

export const pocketBaseVersion = "0.36.8";
const kintoVersion = "26.5.0";

export const pocketBase = builtProgram({
  name: "pocketbase",
  module: "pocketbase",
  package: ".",
  linkerFlags: `-X main.version=${pocketBaseVersion}`,
  takes: "some 3 minutes",
  ways: [installGo, "or set JSONPLANE_POCKETBASE to the path of a PocketBase"],
  variable: "JSONPLANE_POCKETBASE",
  versionArgs: ["--version"],
  version: pocketBaseVersion,
  cached: `pocketbase-${pocketBaseVersion}`,
  suits: () => true,
});

/** With its Redis backends. */
export const kinto = installedFromPypi({
  name: "kinto",
  variable: "JSONPLANE_KINTO",
  packages: [`kinto==${kintoVersion}`, "kinto-redis==2.1.0", "waitress==3.0.2"],
  version: kintoVersion,
  takes: "a minute",
});

const webdisVariable = "JSONPLANE_WEBDIS";
const webdisFolder = "webdis-debian";
const webdisPackages = ["webdis", "libb64-0d", "libhiredis0.14", "libevent-2.1-7", "libjansson4"];
const webdisWays = [
  "install Webdis (Debian, Ubuntu: sudo apt-get install webdis)",
  `or set ${webdisVariable} to its path`,
];
const unpackedWebdis = (env: Environment) => join(cacheFolder(env), webdisFolder, "usr/bin/webdis");

export const webdis: Part = {
  name: "webdis",
  firstTime: "unpacked from Debian's package, some seconds",
  ways: webdisWays,
  variable: webdisVariable,
  find: async (env) =>
    findProgram({ name: "webdis", variable: webdisVariable, cached: unpackedWebdis(env), ways: webdisWays }, env),
  async bring(env) {
    await orMissing("Webdis is missing, and Debian's can't be unpacked", webdisWays, () =>
      fillCacheFolder(cacheFolder(env), webdisFolder, (draft) => unpackPackages(env, webdisPackages, draft)),
    );
  },
  versionOf: async () => undefined,
};

export interface Webdis {
  readonly path: string;
  /** What it has to find its libraries by. */
  readonly env: Readonly<Record<string, string>>;
}

/** Throws PartMissing when it isn't there. */
export async function findWebdis(env: Environment): Promise<Webdis> {
  const path = await requirePart(env, webdis);
  const libraries = join(cacheFolder(env), webdisFolder, "usr/lib/x86_64-linux-gnu");
  return { path, env: path === unpackedWebdis(env) ? { LD_LIBRARY_PATH: libraries } : {} };
}
