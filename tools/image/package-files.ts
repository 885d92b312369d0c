// Says which files of an npm package a running program needs: not its tests, sources, types, maps
// and papers, nor what was compiled for other systems. Pure.

const folders = new Set(
  ["test", "tests", "__tests__", "benchmark", "benchmarks", "example", "examples", "docs", "doc", "coverage"].concat([
    ".github",
    "typings",
    ".vscode",
  ]),
);
const unread = /\.(d\.[cm]?ts|[cm]?ts|tsx|map|md|markdown|c|cc|cpp|h|gyp|gypi|bare|flow|ya?ml|zip|sh|html|lock)$/i;
const tests = /(^|[./-])(test|spec|bench)\.[cm]?js$|^test-/i;
const keptPapers = /^(licen[cs]e|copying|notice)/i;

export interface Target {
  /** As Node calls it: `x64`, `arm64`. */
  readonly architecture: string;
}

/** `path` is within the package, with slashes. */
export function isNeeded(path: string, target: Target): boolean {
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 1 && folders.has(parts[0] ?? "")) return false;
  if (isCompiledHere(parts)) return false;
  if (parts.length === 1 && keptPapers.test(name)) return true;
  if (name.startsWith(".") || unread.test(name) || (tests.test(name) && parts[0] !== "dist")) return false;
  return parts[0] !== "prebuilds" || isFor(parts, target);
}

/**
 * Whether node-gyp made it while the package was installed with its install scripts, for the
 * machine that installed it. The packages that the program uses bring compiled modules for every
 * system that it runs on.
 */
function isCompiledHere([folder, ...rest]: readonly string[]): boolean {
  if (folder !== "build") return false;
  return rest[0] === "Release" || rest[0] === "Debug" || /(^|\.)(Makefile|mk)$/.test(rest.at(-1) ?? "");
}

/** Compiled modules lie in `prebuilds/<system>-<architecture>/`; the image's C library is glibc. */
function isFor(parts: readonly string[], target: Target): boolean {
  return parts[1] === `linux-${target.architecture}` && !(parts.at(-1) ?? "").includes("musl");
}
