// Lists the npm packages that the image holds: what package-lock.json says is no development
// dependency and not optional, as it lies in node_modules. Refuses when a package that is wanted
// isn't there, or is there in another version than the lock file's.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
}

/** Paths from the root, such as `node_modules/fastify`, in order. */
export async function productionPackages(root: string): Promise<readonly string[]> {
  const present: string[] = [];
  for (const [path, entry] of shippedPackages(await lockedPackages(root))) {
    if (!isOptional(entry) && (await isPresent(root, path, entry))) present.push(path);
  }
  return present.sort();
}

/** What package-lock.json has, by path from the root. */
export async function lockedPackages(root: string): Promise<Readonly<Record<string, LockedPackage>>> {
  return JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")).packages;
}

/** Those that the npm package brings. Types are for the compiler, whoever lists them. */
export function shippedPackages(
  packages: Readonly<Record<string, LockedPackage>>,
): readonly (readonly [string, LockedPackage])[] {
  return Object.entries(packages).filter(
    ([path, { dev }]) => path !== "" && dev !== true && !path.includes("node_modules/@types/"),
  );
}

/** Of `jsonplane mcp`, which runs at a desk. */
export function isOptional({ optional, devOptional }: LockedPackage): boolean {
  return optional === true || devOptional === true;
}

async function isPresent(root: string, path: string, entry: LockedPackage): Promise<boolean> {
  const description = join(root, path, "package.json");
  if (!existsSync(description)) {
    if (entry.peer === true) return false;
    throw new Error(`${path} is not installed: run npm ci`);
  }
  const { version } = JSON.parse(await readFile(description, "utf8")) as { readonly version?: string };
  if (version === entry.version) return true;
  throw new Error(`${path} is of version ${version}, and package-lock.json wants ${entry.version}: run npm ci`);
}
