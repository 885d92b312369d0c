// The Helm 3 and 4 that tests of the chart and of `helm --wait` run: JSONPLANE_HELM3 and JSONPLANE_HELM, the PATH, the cache, or
// built once with Go. Refuses with PartMissing, which says how to get one.

import { findProgram, type ProgramSource } from "./built-program.ts";
import type { Environment } from "./cache.ts";

/** A major version of Helm; people use both. */
export type HelmMajor = 3 | 4;

interface Release {
  readonly version: string;
  readonly variable: string;
  /** Folder below tools/parts/go. */
  readonly module: string;
  readonly linkerFlags: string;
}

const releases: Readonly<Record<HelmMajor, Release>> = {
  3: {
    version: "3.19.0",
    variable: "JSONPLANE_HELM3",
    module: "helm3",
    // Without them it takes every cluster that it isn't connected to for Kubernetes 1.20.
    linkerFlags:
      "-X helm.sh/helm/v3/internal/version.version=v3.19.0 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=34 -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=34",
  },
  4: {
    version: "4.3.1",
    variable: "JSONPLANE_HELM",
    module: "helm",
    linkerFlags: "-X helm.sh/helm/v4/internal/version.version=v4.3.1",
  },
};

/** The path of a helm of that major version. */
export async function findHelm(env: Environment, major: HelmMajor = 4): Promise<string> {
  const { path } = await findProgram(env, sourceOf(major), (version) => version.major === major);
  return path;
}

function sourceOf(major: HelmMajor): ProgramSource {
  const { version, variable, module, linkerFlags } = releases[major];
  return {
    name: "helm",
    module,
    package: `helm.sh/helm/v${major}/cmd/helm`,
    linkerFlags,
    takes: "some 2 minutes, once",
    ways: [
      `install Helm ${major}`,
      "or install Go 1.21 or newer (Debian, Ubuntu: sudo apt-get install golang; macOS: brew install go) and run this again",
      `or set ${variable} to the path of a helm program`,
    ],
    variables: [variable],
    versionArgs: ["version", "--short"],
    version,
    cached: `helm-${version}`,
  };
}
