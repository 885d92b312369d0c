import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

async function lockedPackages(): Promise<Readonly<Record<string, LockedPackage>>> {
  const text = await readFile(new URL("../../package-lock.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { packages: Record<string, LockedPackage> }).packages;
}

it("the lock file names the packages of every platform, without which npm ci refuses it elsewhere", async () => {
  const packages = await lockedPackages();
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) => {
    const places = (name: string) => [`${path}/node_modules/${name}`, `node_modules/${name}`];
    return Object.keys(optionalDependencies).filter((name) => !places(name).some((each) => each in packages));
  });
  expect(missing).toEqual([]);
});

it("the lock file pins by hash every package that every machine installs, and names no registry", async () => {
  const packages = Object.entries(await lockedPackages()).filter(([path]) => path !== "");
  const loose = packages.filter(([, { integrity, optional }]) => integrity === undefined && optional !== true);
  expect(loose.map(([path]) => path)).toEqual([]);
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
