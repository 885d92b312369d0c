// A part that is one program which Go can build. It is found by the project's order: a path that
// the environment names, the PATH where its version will do, the cache; and is built into the
// cache.

import { join } from "node:path";
import { cacheFolder, type Environment, fillCacheFolder } from "./cache.ts";
import { buildWithGo, type GoBuild } from "./go.ts";
import { type FoundPart, type Part, PartMissing } from "./part.ts";
import { programVersion, type Version } from "./program-version.ts";
import { isProgram, namedProgram, onPath } from "./programs.ts";

export interface ProgramSource extends GoBuild {
  /** Name of the part, where it isn't the program's: two versions of one program are two parts. */
  readonly partName?: string;
  /** What a build takes on two cores: "some 4 minutes". */
  readonly takes: string;
  /** Variable that may name the program. */
  readonly variable?: string;
  /** Variable that may name a folder that holds it. */
  readonly folderVariable?: string;
  readonly versionArgs: readonly string[];
  /** The version that is built, as the program says it; undefined for one that says none. */
  readonly version?: string;
  /** Folder of the cache. */
  readonly cached: string;
  /**
   * Whether a program on the PATH will do. What the environment names is taken as the person's
   * word.
   */
  suits(version: Version, env: Environment): boolean | Promise<boolean>;
}

export function builtProgram(source: ProgramSource): Part {
  const folder = (env: Environment) => join(cacheFolder(env), source.cached);
  const cachedPath = (env: Environment) => join(folder(env), source.name, source.name);
  return {
    name: source.partName ?? source.name,
    firstTime: `built with Go, ${source.takes}`,
    ways: source.ways,
    variable: source.variable,
    async find(env) {
      const named = namedPath(env, source);
      if (named) return named;
      // What says no version can't be told from another program of that name.
      const present = source.version === undefined ? undefined : onPath(source.name, env);
      if (present && (await presentSuits(present, env, source))) return { path: present, origin: "PATH" };
      const path = cachedPath(env);
      // What is damaged there is built again.
      if (!isProgram(path) || (await otherVersion(path, source)) !== undefined) return undefined;
      return { path, origin: "cache" };
    },
    async bring(env, options) {
      const build = (draft: string) => buildWithGo(env, source, join(draft, source.name), options);
      await fillCacheFolder(folder(env), source.name, build);
      const path = cachedPath(env);
      const found = await otherVersion(path, source);
      if (found !== undefined) throw new PartMissing(`${path} was built and says ${found}, not ${source.version}`);
    },
    versionOf: async ({ path }) =>
      source.version === undefined ? undefined : (await programVersion(path, source.versionArgs))?.text,
  };
}

function namedPath(env: Environment, source: ProgramSource): FoundPart | undefined {
  const { variable, folderVariable } = source;
  const named = variable === undefined ? undefined : namedProgram(variable, env, source.ways);
  if (named) return named;
  const folder = folderVariable === undefined ? undefined : env[folderVariable];
  if (!folder) return undefined;
  // Such a folder need not hold everything: setup-envtest's has no kube-controller-manager.
  const path = join(folder, source.name);
  return isProgram(path) ? { path, origin: `environment variable ${folderVariable}` } : undefined;
}

async function presentSuits(path: string, env: Environment, source: ProgramSource): Promise<boolean> {
  const version = await programVersion(path, source.versionArgs);
  return version !== undefined && (await source.suits(version, env));
}

/**
 * What a program says of its version where that is not the version that is built; undefined for one
 * that says none.
 */
async function otherVersion(
  path: string,
  { version: wanted, versionArgs }: ProgramSource,
): Promise<string | undefined> {
  if (wanted === undefined) return undefined;
  const version = await programVersion(path, versionArgs);
  return version?.text === wanted ? undefined : (version?.text ?? "no version");
}
