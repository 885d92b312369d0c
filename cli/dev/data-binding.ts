// Which folder of manifests a data folder belongs to: the file `serves` in it, with a path that stays true when both are moved together.

import { readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";

export function bindingFile(folder: string): string {
  return join(folder, "serves");
}

/** What leads from a data folder to its manifests. */
export function pathFrom(folder: string, manifests: string): string {
  return relative(resolve(folder), resolve(manifests)) || ".";
}

/** Undefined when the folder belongs to no manifests, or isn't there. */
export async function readBinding(folder: string): Promise<string | undefined> {
  return (await readText(bindingFile(folder)))?.trim();
}

/** Undefined when there is no such file. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
