// Builds programs with Go from pinned modules. A folder under tools/parts/go/ holds the go.mod and
// go.sum of each, so that every source is of a known version and checked by its hash. Go keeps what
// it compiled, so an interrupted build goes on where it was. Refuses with PartMissing when Go is
// missing, too old, or fails.

import { fileURLToPath } from "node:url";
import type { Environment } from "./cache.ts";
import { type BringOptions, partMissing } from "./part.ts";
import { isAtLeast, versionIn } from "./program-version.ts";
import { onPath } from "./programs.ts";
import { lastWords, type RunOptions, runCommand } from "./run-command.ts";

/**
 * Older ones don't understand the go line of our modules, and can't bring the Go that it asks for.
 */
const oldest = "1.21";
/** Empty is unset to Go: programs run here, whatever a person's shell builds for. */
const thisMachine = { GOOS: "", GOARCH: "" } as const;
/** A first build of kube-apiserver on two slow cores. */
const timeout = 45 * 60_000;

export const installGo =
  "install Go 1.21 or newer (Debian, Ubuntu: sudo apt-get install golang; macOS: brew install go) and run this again";

export interface GoBuild {
  /** What is built, for messages: `kube-apiserver`. */
  readonly name: string;
  /** Folder under tools/parts/go/. */
  readonly module: string;
  /** Another file of that folder than its go.mod, for a second version; its go.sum is beside it. */
  readonly modFile?: string;
  readonly package: string;
  /** Further options of the linker. */
  readonly linkerFlags?: string;
  /** What a person can do instead. */
  readonly ways: readonly string[];
}

/** Writes the program to `target`. */
export async function buildWithGo(
  env: Environment,
  build: GoBuild,
  target: string,
  { onProgress, signal }: BringOptions,
): Promise<void> {
  const go = await findGo(env, build);
  const cwd = fileURLToPath(new URL(`go/${build.module}`, import.meta.url));
  const options: RunOptions = { cwd, env: { CGO_ENABLED: "0", GOWORK: "off", ...thisMachine }, timeout, signal };
  const modFile = `-modfile=${build.modFile ?? "go.mod"}`;
  const flags = ["-mod=readonly", modFile, "-buildvcs=false", `-ldflags=${`-s -w ${build.linkerFlags ?? ""}`.trim()}`];
  onProgress("fetching modules");
  const stale = ["list", "-deps", "-f", "{{if .Stale}}.{{end}}", ...flags, build.package];
  const listed = await runCommand(go, stale, options);
  if (listed.code !== 0) throw partMissing(`Go couldn't fetch ${build.name}:\n${lastWords(listed)}`, build.ways);
  const total = listed.stdout.split("\n").filter((line) => line === ".").length;
  // `go build -v` prints a line for each package when it is done with it.
  let compiled = 0;
  const onStderr = (text: string) => {
    compiled += text.split("\n").length - 1;
    onProgress(`${Math.min(compiled, total)} of ${total} packages compiled`);
  };
  const done = await runCommand(go, ["build", "-v", ...flags, "-o", target, build.package], { ...options, onStderr });
  if (done.code !== 0) throw partMissing(`Go couldn't build ${build.name}:\n${lastWords(done)}`, build.ways);
}

async function findGo(env: Environment, build: GoBuild): Promise<string> {
  const go = onPath("go", env);
  if (!go)
    throw partMissing(
      `${build.name} is missing, and so is Go, which could build it: there is none on the PATH`,
      build.ways,
    );
  const asked = await runCommand(go, ["env", "GOVERSION"]);
  const version = versionIn(asked.stdout);
  if (version && isAtLeast(version, oldest)) return go;
  const why = version === undefined ? `says no version: ${lastWords(asked, 1)}` : `is older than Go ${oldest}`;
  throw partMissing(`${build.name} is missing; Go could build it, and ${go} ${why}`, build.ways);
}
