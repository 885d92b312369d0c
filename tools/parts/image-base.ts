// What the released image is based on, for each platform: Node with the libraries that it loads, as
// one compressed layer. Node is npm's package of a pinned version; the libraries are those of the
// packages that Debian or Ubuntu has for that platform. Nothing of it runs on this machine.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { packLayer } from "../image/layer.ts";
import { cacheFolder, type Environment, fillCacheFolder } from "./cache.ts";
import { orMissing, unpackPackagesFor } from "./debian-packages.ts";
import { type Part, partMissing, requirePart } from "./part.ts";
import { lastWords, runCommand } from "./run-command.ts";

/** tools/parts/node.sh has the same. */
export const baseNodeVersion = "24.21.0";

export interface Platform {
  /** As OCI images and Debian call it. */
  readonly architecture: "amd64" | "arm64";
  /** As Node calls it. */
  readonly node: "x64" | "arm64";
  /** SHA-512 of npm's package. */
  readonly integrity: string;
  /** Where Node looks for the loader, and where the loader looks for libraries. */
  readonly loader: string;
  readonly libraries: string;
}

export const platforms: readonly Platform[] = [
  {
    architecture: "amd64",
    node: "x64",
    integrity: "3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    loader: "lib64/ld-linux-x86-64.so.2",
    libraries: "lib/x86_64-linux-gnu",
  },
  {
    architecture: "arm64",
    node: "arm64",
    integrity: "FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
    loader: "lib/ld-linux-aarch64.so.1",
    libraries: "lib/aarch64-linux-gnu",
  },
];

const packages = ["libc6", "libgcc-s1", "libstdc++6"] as const;
const libraries = ["libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "libstdc++.so.6"];
const ways = ["run it on Debian or Ubuntu"];

export interface ImageBase {
  /** Path of the layer, compressed. */
  readonly layer: string;
  /** SHA-256 of the layer before it was compressed. */
  readonly diffId: string;
  /** Debian's packages in it, as `libc6_2.36-9_arm64`. */
  readonly packages: readonly string[];
}

export function imageBase(platform: Platform): Part {
  const name = `image base ${platform.architecture}`;
  const folderName = `image-base-${platform.architecture}-${baseNodeVersion}`;
  return {
    name,
    firstTime: "fetched by npm and apt-get, some 30 seconds",
    ways,
    variable: undefined,
    async find(env) {
      const path = join(cacheFolder(env), folderName);
      return existsSync(join(path, "base.json")) ? { path, origin: "cache" } : undefined;
    },
    async bring(env, { onProgress, signal }) {
      await fillCacheFolder(cacheFolder(env), folderName, async (folder) => {
        const root = join(folder, "root");
        onProgress(`fetching Node for ${platform.architecture}`);
        await fetchNode(platform, join(folder, "node"), signal);
        await mkdir(join(root, "usr/local/bin"), { recursive: true });
        await rename(join(folder, "node/package/bin/node"), join(root, "usr/local/bin/node"));
        await chmod(join(root, "usr/local/bin/node"), 0o755);
        onProgress(`fetching libraries for ${platform.architecture}`);
        const debian = join(folder, "debian");
        await mkdir(debian);
        const unpacked = await orMissing(`The ${name} is missing`, ways, () =>
          unpackPackagesFor(env, platform.architecture, packages, debian),
        );
        await copyLibraries(debian, root, platform);
        const diffId = await packLayer(root, join(folder, "layer.tar.gz"));
        await writeFile(join(folder, "base.json"), JSON.stringify({ diffId, packages: unpacked }));
        for (const part of ["node", "debian", "root"]) await rm(join(folder, part), { recursive: true });
      });
    },
    versionOf: async () => baseNodeVersion,
  };
}

/** Throws PartMissing when it was not brought. */
export async function findImageBase(env: Environment, platform: Platform): Promise<ImageBase> {
  const folder = await requirePart(env, imageBase(platform));
  const noted = JSON.parse(await readFile(join(folder, "base.json"), "utf8"));
  return { ...noted, layer: join(folder, "layer.tar.gz") };
}

async function fetchNode({ node, integrity }: Platform, folder: string, signal: AbortSignal): Promise<void> {
  await mkdir(folder);
  const name = `node-linux-${node}`;
  const packed = await runCommand("npm", ["pack", "--silent", `${name}@${baseNodeVersion}`], { cwd: folder, signal });
  if (packed.code !== 0) throw partMissing(`npm couldn't fetch ${name}@${baseNodeVersion}: ${lastWords(packed)}`, ways);
  const archive = join(folder, `${name}-${baseNodeVersion}.tgz`);
  const found = createHash("sha512")
    .update(await readFile(archive))
    .digest("base64");
  if (found !== integrity)
    throw partMissing(`npm's ${name}@${baseNodeVersion} is not the pinned one: its SHA-512 differs`, ways);
  const done = await runCommand("tar", ["-xzf", archive, "-C", folder, "package/bin/node"]);
  if (done.code !== 0) throw partMissing(`${archive} can't be unpacked: ${lastWords(done)}`, ways);
}

/** Distributions differ in whether these are below /lib or /usr/lib. */
async function copyLibraries(debian: string, root: string, platform: Platform): Promise<void> {
  const copied = [...libraries.map((library) => `${platform.libraries}/${library}`), platform.loader];
  for (const path of copied) {
    const inPackage = path === platform.loader ? `${platform.libraries}/${path.split("/").at(-1)}` : path;
    const source = [inPackage, `usr/${inPackage}`].map((each) => join(debian, each)).find(existsSync);
    if (source === undefined) throw partMissing(`${packages.join(", ")} bring no ${inPackage}`, ways);
    await mkdir(dirname(join(root, path)), { recursive: true });
    await copyFile(await realpath(source), join(root, path));
    await chmod(join(root, path), 0o755);
  }
}
