// Asks a program for its version, and compares versions by major and minor: what the rules of
// version skew speak of. Undefined where a program doesn't run or names no version.

import type { FoundPart } from "./part.ts";
import { runCommand } from "./run-command.ts";

export interface Version {
  readonly major: number;
  readonly minor: number;
  /** As the program wrote it: `1.36.3`. */
  readonly text: string;
}

/** `args` make the program print its version and end. */
export async function programVersion(path: string, args: readonly string[]): Promise<Version | undefined> {
  const done = await runCommand(path, args, { timeout: 30_000 });
  // nginx writes it to standard error.
  return done.code === 0 ? versionIn(done.stdout || done.stderr) : undefined;
}

/**
 * What was found, except a program of the cache that doesn't say its version: it is damaged, and is
 * to be brought again.
 */
export async function unlessDamaged(
  found: FoundPart | undefined,
  versionArgs: readonly string[],
): Promise<FoundPart | undefined> {
  if (found?.origin !== "cache") return found;
  return (await programVersion(found.path, versionArgs)) === undefined ? undefined : found;
}

/** The first `x.y` or `x.y.z` of a text. */
export function versionIn(text: string): Version | undefined {
  const found = /(\d+)\.(\d+)(?:\.\d+)?/.exec(text);
  return found ? { major: Number(found[1]), minor: Number(found[2]), text: found[0] } : undefined;
}

export function isAtLeast(version: Version, oldest: string): boolean {
  const { major, minor } = versionIn(oldest) ?? { major: 0, minor: 0 };
  return version.major > major || (version.major === major && version.minor >= minor);
}

/** True when both are of one major version and at most one minor version apart. */
export function isWithinOneMinor(one: Version, other: Version): boolean {
  return one.major === other.major && Math.abs(one.minor - other.minor) <= 1;
}
