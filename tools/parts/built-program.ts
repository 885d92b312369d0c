// Finds one program by the project's order: a path that the environment names, the PATH where its version will do, the cache,
// and a build with Go into the cache. Refuses with PartMissing.

import { join } from "node:path";
import { cachedFolder, cacheFolder, type Environment } from "./cache.ts";
import { buildWithGo, type GoBuild } from "./go.ts";
import { PartMissing } from "./part-missing.ts";
import { programVersion, type Version } from "./program-version.ts";
import { isProgram, onPath } from "./programs.ts";

export interface ProgramSource extends GoBuild {
  /** Variables that may name the program, in this order. */
  readonly variables: readonly string[];
  /** Variable that may name a folder that holds it. */
  readonly folderVariable?: string;
  readonly versionArgs: readonly string[];
  /** The version that is built. */
  readonly version: string;
  /** Folder of the cache. */
  readonly cached: string;
}

export interface FoundProgram {
  readonly path: string;
  readonly version: Version;
}

/** `suits` judges what is on the PATH; what the environment names is taken as the person's word. */
export async function findProgram(
  env: Environment,
  source: ProgramSource,
  suits: (version: Version) => boolean,
): Promise<FoundProgram> {
  const named = namedPath(env, source);
  if (named) return { path: named, version: await versionOf(named, source) };
  const present = onPath(source.name, env);
  const version = present ? await programVersion(present, source.versionArgs) : undefined;
  if (present && version && suits(version)) return { path: present, version };
  return fromCache(env, source);
}

function namedPath(env: Environment, source: ProgramSource): string | undefined {
  const variable = source.variables.find((name) => env[name]);
  const named = variable === undefined ? undefined : env[variable];
  if (named) {
    if (isProgram(named)) return named;
    throw new PartMissing(`${variable} names ${named}, which is not a program that can be run`);
  }
  const folder = source.folderVariable === undefined ? undefined : env[source.folderVariable];
  // Such a folder need not hold everything: setup-envtest's has no kube-controller-manager.
  return folder ? [join(folder, source.name)].find(isProgram) : undefined;
}

async function versionOf(path: string, source: ProgramSource): Promise<Version> {
  const version = await programVersion(path, source.versionArgs);
  if (version) return version;
  throw new PartMissing(`${path} ${source.versionArgs.join(" ")} fails or names no version`);
}

async function fromCache(env: Environment, source: ProgramSource): Promise<FoundProgram> {
  const shelf = join(cacheFolder(env), source.cached);
  const folder = await cachedFolder(shelf, source.name, (draft) => buildWithGo(env, source, join(draft, source.name)));
  const path = join(folder, source.name);
  const version = await programVersion(path, source.versionArgs);
  if (version?.text === source.version) return { path, version };
  const found = version?.text ?? "no version";
  throw new PartMissing(`${path} says ${found}, not ${source.version}: delete ${folder} and run this again`);
}
