// A browser that can be told what to do, for tests of pages: JSONPLANE_CHROMIUM, the PATH (Chromium or Chrome), or Debian's package,
// installed where that needs no password. Refuses with PartMissing.

import type { Environment } from "./cache.ts";
import { partMissing } from "./part-missing.ts";
import { installDebianPackage, isProgram, onPath } from "./programs.ts";

const ways = [
  "install Chromium or Chrome (Debian: sudo apt-get install chromium)",
  "or set JSONPLANE_CHROMIUM to the path of the program",
];
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] as const;

export async function findChromium(env: Environment): Promise<string> {
  const named = env.JSONPLANE_CHROMIUM;
  if (named) {
    if (isProgram(named)) return named;
    throw partMissing(`JSONPLANE_CHROMIUM names ${named}, which is not a program that can be run`, ways);
  }
  const here = present(env);
  if (here !== undefined) return here;
  const failure = await installDebianPackage("chromium", env);
  const installed = failure === undefined ? present(env) : undefined;
  if (installed !== undefined) return installed;
  throw partMissing(`Chromium is missing: ${failure ?? "its package brings no such program"}`, ways);
}

function present(env: Environment): string | undefined {
  return names.map((name) => onPath(name, env)).find((path) => path !== undefined);
}
