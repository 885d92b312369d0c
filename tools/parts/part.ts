// What the project needs in addition to its packages: programs, modules and files of others, each a
// part. `find` only looks (environment variable, PATH, cache); `bring` fetches or builds, and only
// the parts step (bring-parts.ts) calls it: no test ever waits for a build.

import type { Environment } from "./cache.ts";

/**
 * Where a part was found: by the environment variable of that name, on the PATH, in the cache, or
 * installed on the system.
 */
export type PartOrigin = `environment variable ${string}` | "PATH" | "cache" | "system";

export interface FoundPart {
  readonly path: string;
  readonly origin: PartOrigin;
}

export interface BringOptions {
  /** Told now and then how far it is: "612 of 1,405 packages". */
  readonly onProgress: (state: string) => void;
  /**
   * Aborted when another part can't be had. What was done so far is kept where the tool behind it
   * keeps it.
   */
  readonly signal: AbortSignal;
}

export interface Part {
  /** Unique: `kube-apiserver`. Also the name of its lock. */
  readonly name: string;
  /**
   * How it comes when it is missing, and what that takes on two cores: "built with Go, some 4
   * minutes".
   */
  readonly firstTime: string;
  /** What a person can do instead, a line each. */
  readonly ways: readonly string[];
  /** The environment variable that names its path, where there is one. */
  readonly variable: string | undefined;
  /**
   * Undefined when it is nowhere. Throws PartMissing when the environment names something that
   * can't be used.
   */
  find(env: Environment): Promise<FoundPart | undefined>;
  /**
   * Fetches or builds it, so that `find` finds it. Throws PartMissing with the reason when that
   * fails.
   */
  bring(env: Environment, options: BringOptions): Promise<void>;
  /** The version of what was found; undefined where it has none. */
  versionOf(found: FoundPart): Promise<string | undefined>;
}

/**
 * A part isn't on this machine, or can't be brought here. The message says what was tried and what
 * a person can do.
 */
export class PartMissing extends Error {
  override readonly name = "PartMissing";
}

/** "Redis is missing: …" followed by the ways out, a line each. */
export function partMissing(what: string, ways: readonly string[], cause?: unknown): PartMissing {
  const text = [what, ...ways.map((way) => `  - ${way}`)].join("\n");
  return new PartMissing(text, cause === undefined ? undefined : { cause });
}

/** Where the part is. Throws PartMissing when it isn't there: it does not bring it. */
export async function requirePart(env: Environment, part: Part): Promise<string> {
  const found = await part.find(env);
  if (found) return found.path;
  throw partMissing(`${part.name} is missing`, [
    `run "make parts", or "npm run parts -- GROUP" where the command is none of make test's (it is ${part.firstTime}, once)`,
    ...part.ways,
  ]);
}
