// Prometheus and promtool, which tests of dashboards, rules and alerts run: JSONPLANE_PROMETHEUS and JSONPLANE_PROMTOOL, the PATH, the
// cache, or Debian's package, unpacked there. Refuses with PartMissing.

import { join } from "node:path";
import { cachedFolder, cacheFolder, type Environment } from "./cache.ts";
import { UnpackFailed, unpackPackages } from "./debian-packages.ts";
import { partMissing } from "./part-missing.ts";
import { isProgram, onPath } from "./programs.ts";

export interface Prometheus {
  readonly prometheus: string;
  readonly promtool: string;
}

const ways = [
  "install Prometheus (Debian, Ubuntu: sudo apt-get install prometheus; macOS: brew install prometheus)",
  "or set JSONPLANE_PROMETHEUS and JSONPLANE_PROMTOOL to the paths of the programs",
];

export async function findPrometheus(env: Environment): Promise<Prometheus> {
  const named = { prometheus: env["JSONPLANE_PROMETHEUS"], promtool: env["JSONPLANE_PROMTOOL"] };
  const here = {
    prometheus: named.prometheus ?? onPath("prometheus", env),
    promtool: named.promtool ?? onPath("promtool", env),
  };
  for (const path of Object.values(named)) {
    if (path && !isProgram(path)) throw partMissing(`${path} is not a program that can be run`, ways);
  }
  if (here.prometheus && here.promtool) return { prometheus: here.prometheus, promtool: here.promtool };
  try {
    const folder = await cachedFolder(cacheFolder(env), "prometheus-debian", (draft) =>
      unpackPackages(env, ["prometheus"], draft),
    );
    return { prometheus: join(folder, "usr/bin/prometheus"), promtool: join(folder, "usr/bin/promtool") };
  } catch (error) {
    if (!(error instanceof UnpackFailed)) throw error;
    throw partMissing(`Prometheus is missing, and Debian's can't be unpacked: ${error.message}`, ways);
  }
}
