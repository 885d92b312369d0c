// Lists the npm packages that the image holds: what package-lock.json says is no development dependency, as it lies in
// node_modules. Refuses when a package that is wanted isn't there, or is there in another version than the lock file's.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
}

/** Paths from the root, such as `node_modules/fastify`, in order. */
export async function productionPackages(root: string): Promise<readonly string[]> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const wanted = Object.entries(lock.packages).filter(([path, entry]) => path !== "" && isForProduction(path, entry));
  const present: string[] = [];
  for (const [path, entry] of wanted) {
    if (await isPresent(root, path, entry)) present.push(path);
  }
  return present.sort();
}

/** Types are for the compiler, whoever lists them as a dependency. */
function isForProduction(path: string, entry: LockedPackage): boolean {
  return entry.dev !== true && entry.devOptional !== true && !path.includes("node_modules/@types/");
}

async function isPresent(root: string, path: string, entry: LockedPackage): Promise<boolean> {
  const description = join(root, path, "package.json");
  if (!existsSync(description)) {
    // npm leaves out optional packages of other systems.
    if (entry.optional === true || entry.peer === true) return false;
    throw new Error(`${path} is not installed: run npm ci`);
  }
  const { version } = JSON.parse(await readFile(description, "utf8")) as { readonly version?: string };
  if (version === entry.version) return true;
  throw new Error(`${path} is of version ${version}, and package-lock.json wants ${entry.version}: run npm ci`);
}
