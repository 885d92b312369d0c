// Looks for programs on the PATH.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "./cache.ts";

/** Where a program of that name is on the PATH. */
export function onPath(name: string, env: Environment): string | undefined {
  const folders = (env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder || ".", name)).find(isProgram);
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
