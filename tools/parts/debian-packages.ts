// Debian packages: installed where that needs no password, or unpacked into a folder for people who
// aren't root. Refuses with DebianFailed, which says why.

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./cache.ts";
import { type FoundPart, type Part, partMissing } from "./part.ts";
import { withPartLock } from "./part-lock.ts";
import { foundOnPath, onPath } from "./programs.ts";
import { lastWords, runCommand } from "./run-command.ts";

export class DebianFailed extends Error {
  override readonly name = "DebianFailed";
}

/**
 * apt-get serves one process at a time, and updates its lists under another lock than it installs.
 */
const aptLock = "apt-get";

/** Installs a package. Throws DebianFailed. */
export async function installDebianPackage(name: string, env: Environment): Promise<void> {
  const aptGet = onPath("apt-get", env);
  if (!aptGet) throw new DebianFailed("there is no apt-get on this machine");
  const become = await rootPrefix(env);
  if (!become) throw new DebianFailed("apt-get can only be run by root, and sudo asks for a password");
  const asRoot = (...words: readonly string[]) => {
    const [command = aptGet, ...args] = [...become, ...words];
    return runCommand(command, args, { env: { DEBIAN_FRONTEND: "noninteractive" } });
  };
  const run = (...args: readonly string[]) =>
    asRoot(aptGet, "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=600", "-q", ...args);
  const install = ["install", "--yes", "--no-install-recommends", name];
  await withPartLock(env, aptLock, async () => {
    if ((await run(...install)).code === 0) return;
    // An installation that was interrupted before has to be finished first, and a fresh container
    // has no package lists.
    await asRoot("dpkg", "--configure", "-a");
    await run("update");
    const second = await run(...install);
    if (second.code !== 0) throw new DebianFailed(`apt-get couldn't install ${name}: ${lastWords(second)}`);
  });
}

/**
 * The words in front of a command that make root run it; undefined when that would need a password.
 */
async function rootPrefix(env: Environment): Promise<readonly string[] | undefined> {
  if (process.getuid?.() === 0) return [];
  const sudo = onPath("sudo", env);
  if (!sudo) return undefined;
  const asked = await runCommand(sudo, ["-n", "true"]);
  // sudo drops the environment.
  return asked.code === 0 ? [sudo, "-n", "env", "DEBIAN_FRONTEND=noninteractive"] : undefined;
}

/** Unpacks packages into a folder. Throws DebianFailed. */
export async function unpackPackages(env: Environment, packages: readonly string[], folder: string): Promise<void> {
  const aptGet = onPath("apt-get", env);
  const dpkg = onPath("dpkg-deb", env);
  if (!aptGet || !dpkg) throw new DebianFailed("there is no Debian package to unpack");
  await withPartLock(env, aptLock, () => requireSuccess(aptGet, ["-q", "download", ...packages], folder));
  await extractAll(dpkg, folder);
}

/**
 * The same for another architecture, such as `arm64`, without telling the machine's own apt of it;
 * returns the packages as Debian names their files, such as `libc6_2.36-9_arm64`. Throws
 * DebianFailed.
 */
export async function unpackPackagesFor(
  env: Environment,
  architecture: string,
  packages: readonly string[],
  folder: string,
): Promise<readonly string[]> {
  const aptGet = onPath("apt-get", env);
  const dpkg = onPath("dpkg-deb", env);
  if (!aptGet || !dpkg) throw new DebianFailed("there is no Debian package to unpack");
  const own = await mkdtemp(join(tmpdir(), "jsonplane-apt-"));
  try {
    await mkdir(join(own, "lists/partial"), { recursive: true });
    await mkdir(join(own, "cache/archives/partial"), { recursive: true });
    const settings = [
      ...[`APT::Architecture=${architecture}`, `APT::Architectures=${architecture}`, "APT::Sandbox::User=root"],
      ...[`Dir::State::lists=${own}/lists`, `Dir::Cache=${own}/cache`, ...(await portsOf(architecture, own))],
    ];
    const options = ["-q", ...settings.flatMap((setting) => ["-o", setting])];
    await requireSuccess(aptGet, [...options, "update"], folder);
    await requireSuccess(aptGet, [...options, "download", ...packages], folder);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
  return (await extractAll(dpkg, folder)).map((archive) => decodeURIComponent(archive.replace(/\.deb$/, "")));
}

/** Ubuntu has what isn't for amd64 at another place than its machines ask. */
async function portsOf(architecture: string, folder: string): Promise<readonly string[]> {
  const system = await readFile("/etc/os-release", "utf8").catch(() => "");
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(system)?.[1];
  if (!/^ID=ubuntu$/m.test(system) || codename === undefined || architecture === "amd64") return [];
  const suites = [codename, `${codename}-updates`, `${codename}-security`];
  const sources = suites.map((suite) => `deb http://ports.ubuntu.com/ubuntu-ports ${suite} main\n`);
  await writeFile(join(folder, "sources.list"), sources.join(""));
  return [`Dir::Etc::sourcelist=${folder}/sources.list`, "Dir::Etc::sourceparts=-"];
}

/** Returns the names of the archives. */
async function extractAll(dpkg: string, folder: string): Promise<readonly string[]> {
  const archives = (await readdir(folder)).filter((name) => name.endsWith(".deb")).sort();
  for (const archive of archives) {
    await requireSuccess(dpkg, ["--extract", archive, "."], folder);
    await rm(join(folder, archive));
  }
  return archives;
}

async function requireSuccess(command: string, args: readonly string[], cwd: string): Promise<void> {
  const done = await runCommand(command, args, { cwd });
  if (done.code !== 0)
    throw new DebianFailed(`${command} ${args.find((word) => /^\w+$/.test(word)) ?? args[0]}: ${lastWords(done)}`);
}

export interface DebianProgram {
  readonly name: string;
  /** Package that brings it. */
  readonly package: string;
  readonly ways: readonly string[];
  /** Where it is, when that is not what the PATH says of its name. */
  readonly locate?: (env: Environment) => FoundPart | undefined;
  /** Arguments that make it print its version; none by default. */
  readonly versionArgs?: readonly string[];
}

/**
 * Runs `bring`; what Debian's tools fail with becomes PartMissing: `what`, the reason, and the ways
 * out.
 */
export async function orMissing<T>(what: string, ways: readonly string[], bring: () => Promise<T>): Promise<T> {
  try {
    return await bring();
  } catch (error) {
    if (!(error instanceof DebianFailed)) throw error;
    throw partMissing(`${what}: ${error.message}`, ways);
  }
}

/** A part that Debian packages, and that has to be installed to work. */
export function debianProgram(program: DebianProgram): Part {
  const locate = program.locate ?? ((env) => foundOnPath([program.name], env));
  const ways = [`install it (Debian, Ubuntu: apt-get install ${program.package})`, ...program.ways];
  return {
    name: program.name,
    firstTime: `installed by apt-get (${program.package}), some seconds`,
    ways,
    variable: undefined,
    find: async (env) => locate(env),
    async bring(env) {
      await orMissing(`${program.name} is missing`, ways, () => installDebianPackage(program.package, env));
      if (locate(env) === undefined) {
        throw partMissing(`${program.name} is missing, and the package ${program.package} did not bring it`, ways);
      }
    },
    async versionOf({ path }) {
      if (program.versionArgs === undefined) return undefined;
      const done = await runCommand(path, program.versionArgs, { timeout: 30_000 });
      return /\d+\.\d+(\.\d+)?/.exec(done.stdout)?.[0];
    },
  };
}
