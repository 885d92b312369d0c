// The Helm 4 that tests of the chart and of `helm --wait` run: JSONPLANE_HELM, the PATH, the cache, or built once with Go. Refuses
// with PartMissing, which says how to get one.

import { findProgram, type ProgramSource } from "./built-program.ts";
import type { Environment } from "./cache.ts";
import { isAtLeast } from "./program-version.ts";

const release = "4.3.1";

const source: ProgramSource = {
  name: "helm",
  module: "helm",
  package: "helm.sh/helm/v4/cmd/helm",
  linkerFlags: `-X helm.sh/helm/v4/internal/version.version=v${release}`,
  takes: "some 2 minutes, once",
  ways: [
    "install Helm 4",
    "or install Go 1.21 or newer (Debian, Ubuntu: sudo apt-get install golang; macOS: brew install go) and run this again",
    "or set JSONPLANE_HELM to the path of a helm program",
  ],
  variables: ["JSONPLANE_HELM"],
  versionArgs: ["version", "--short"],
  version: release,
  cached: `helm-${release}`,
};

/** The path of a helm 4. */
export async function findHelm(env: Environment): Promise<string> {
  const { path } = await findProgram(env, source, (version) => version.major === 4 && isAtLeast(version, "4.0"));
  return path;
}
