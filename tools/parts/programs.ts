// Where a program is: as a variable of the environment says, on the PATH, or in the cache. Refuses
// with PartMissing when the variable names something else than a program.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "./cache.ts";
import { type FoundPart, partMissing } from "./part.ts";

export interface ProgramSearch {
  readonly name: string;
  readonly variable: string;
  /** Where it would be in the cache. */
  readonly cached: string;
  readonly ways: readonly string[];
}

export function findProgram({ name, variable, cached, ways }: ProgramSearch, env: Environment): FoundPart | undefined {
  const found = namedProgram(variable, env, ways) ?? foundOnPath([name], env);
  return found ?? (isProgram(cached) ? { path: cached, origin: "cache" } : undefined);
}

/** The program that a variable names; undefined when it names none. */
export function namedProgram(variable: string, env: Environment, ways: readonly string[]): FoundPart | undefined {
  const path = env[variable];
  if (!path) return undefined;
  if (isProgram(path)) return { path, origin: `environment variable ${variable}` };
  throw partMissing(`${variable} names ${path}, which is not a program that can be run`, ways);
}

/** The first of these names that is on the PATH. */
export function foundOnPath(names: readonly string[], env: Environment): FoundPart | undefined {
  const path = names.map((name) => onPath(name, env)).find((found) => found !== undefined);
  return path === undefined ? undefined : { path, origin: "PATH" };
}

/** Where a program of that name is on the PATH. */
export function onPath(name: string, env: Environment): string | undefined {
  const folders = (env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder || ".", name)).find(isProgram);
}

/** A file that holds something and that this user may run: folders have a bit for that, too. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    const found = statSync(path);
    return found.isFile() && found.size > 0;
  } catch {
    return false;
  }
}
