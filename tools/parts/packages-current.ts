// packages-current.ts ROOT: exits 0 when node_modules holds exactly what package-lock.json names,
// as npm recorded it, and 1 otherwise. It spares the install after somebody ran npm by hand.
// Optional packages of other platforms may be absent.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
}

type Lock = Readonly<Record<string, LockedPackage>>;

async function packagesOf(path: string): Promise<Lock> {
  const lock = JSON.parse(await readFile(path, "utf8")) as { packages?: Lock };
  return lock.packages ?? {};
}

function same(wanted: LockedPackage, present: LockedPackage | undefined): boolean {
  if (!present) return wanted.optional === true;
  return wanted.version === present.version && wanted.integrity === present.integrity;
}

const root = process.argv[2] ?? ".";
const wanted = await packagesOf(join(root, "package-lock.json"));
const present = await packagesOf(join(root, "node_modules", ".package-lock.json"));
const missing = Object.keys(wanted).some((path) => path !== "" && !same(wanted[path] ?? {}, present[path]));
const extra = Object.keys(present).some((path) => !(path in wanted));
process.exitCode = missing || extra ? 1 : 0;
