// Prometheus and promtool, which tests of dashboards, rules and alerts run: JSONPLANE_PROMETHEUS
// and JSONPLANE_PROMTOOL, the PATH, the cache, or Debian's package, unpacked there. They are one
// part, because they come in one package.

import { join } from "node:path";
import { cacheFolder, type Environment, fillCacheFolder } from "./cache.ts";
import { orMissing, unpackPackages } from "./debian-packages.ts";
import { type FoundPart, type Part, requirePart } from "./part.ts";
import { programVersion, unlessDamaged } from "./program-version.ts";
import { findProgram } from "./programs.ts";

export interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
}

const variables: Readonly<Record<keyof PrometheusPrograms, string>> = {
  prometheus: "JSONPLANE_PROMETHEUS",
  promtool: "JSONPLANE_PROMTOOL",
};
const folderName = "prometheus-debian";
const versionArgs = ["--version"];
const ways = [
  "install Prometheus (Debian, Ubuntu: sudo apt-get install prometheus; macOS: brew install prometheus)",
  "or set JSONPLANE_PROMETHEUS and JSONPLANE_PROMTOOL to the paths of the programs",
];

export const prometheus: Part = {
  name: "prometheus",
  firstTime: "unpacked from Debian's package (prometheus), some seconds",
  ways,
  variable: variables.prometheus,
  async find(env) {
    const [promtool, server] = await Promise.all(
      (["promtool", "prometheus"] as const).map((name) => unlessDamaged(locate(name, env), versionArgs)),
    );
    return promtool && server;
  },
  async bring(env) {
    await orMissing("Prometheus is missing, and Debian's can't be unpacked", ways, () =>
      fillCacheFolder(cacheFolder(env), folderName, (draft) => unpackPackages(env, ["prometheus"], draft)),
    );
  },
  versionOf: async ({ path }) => (await programVersion(path, versionArgs))?.text,
};

/** Throws PartMissing when one isn't there. */
export async function findPrometheus(env: Environment): Promise<PrometheusPrograms> {
  const path = await requirePart(env, prometheus);
  return { prometheus: path, promtool: locate("promtool", env)?.path ?? path };
}

function locate(name: keyof PrometheusPrograms, env: Environment): FoundPart | undefined {
  const cached = join(cacheFolder(env), folderName, "usr/bin", name);
  return findProgram({ name, variable: variables[name], cached, ways }, env);
}
