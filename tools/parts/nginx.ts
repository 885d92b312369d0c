// nginx, through which tests follow changes: JSONPLANE_NGINX, the PATH, Debian's folder for
// servers, the cache, or Debian's package, unpacked there: installed, it would listen on port 80.

import { join } from "node:path";
import { cacheFolder, fillCacheFolder } from "./cache.ts";
import { orMissing, unpackPackages } from "./debian-packages.ts";
import type { Part } from "./part.ts";
import { programVersion, unlessDamaged } from "./program-version.ts";
import { findProgram } from "./programs.ts";

const variable = "JSONPLANE_NGINX";
const folderName = "nginx-debian";
const versionArgs = ["-v"];
const ways = [
  "install nginx (Debian, Ubuntu: sudo apt-get install nginx; macOS: brew install nginx)",
  `or set ${variable} to the path of the program`,
];

export const nginx: Part = {
  name: "nginx",
  firstTime: "unpacked from Debian's package (nginx), some seconds",
  ways,
  variable,
  find(env) {
    const cached = join(cacheFolder(env), folderName, "usr/sbin/nginx");
    // People who aren't root have no /usr/sbin on their PATH.
    const searched = { ...env, PATH: `${env.PATH ?? ""}:/usr/sbin` };
    return unlessDamaged(findProgram({ name: "nginx", variable, cached, ways }, searched), versionArgs);
  },
  async bring(env) {
    await orMissing("nginx is missing, and Debian's can't be unpacked", ways, () =>
      fillCacheFolder(cacheFolder(env), folderName, (draft) => unpackPackages(env, ["nginx"], draft)),
    );
  },
  versionOf: async ({ path }) => (await programVersion(path, versionArgs))?.text,
};
