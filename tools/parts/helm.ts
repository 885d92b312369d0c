// Helm: 4 for everything, 3 next to it in the nightly tier, because people use both. JSONPLANE_HELM
// and JSONPLANE_HELM3, the PATH, the cache, or built once with Go.

import { builtProgram } from "./built-program.ts";
import type { Environment } from "./cache.ts";
import { installGo } from "./go.ts";
import { type Part, requirePart } from "./part.ts";

interface Release {
  readonly major: 3 | 4;
  readonly version: string;
  readonly variable: string;
  /** Folder below tools/parts/go. */
  readonly module: string;
  readonly linkerFlags: string;
}

export const helm: Part = helmOf({
  major: 4,
  version: "4.3.1",
  variable: "JSONPLANE_HELM",
  module: "helm",
  linkerFlags: "-X helm.sh/helm/v4/internal/version.version=v4.3.1",
});

export const helm3: Part = helmOf({
  major: 3,
  version: "3.19.0",
  variable: "JSONPLANE_HELM3",
  module: "helm3",
  // Without them it takes every cluster that it isn't connected to for Kubernetes 1.20.
  linkerFlags:
    "-X helm.sh/helm/v3/internal/version.version=v3.19.0 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=34 -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=34",
});

/** The path of a helm of that major version. Throws PartMissing when it isn't there. */
export function findHelm(env: Environment, major: 3 | 4 = 4): Promise<string> {
  return requirePart(env, major === 4 ? helm : helm3);
}

function helmOf({ major, version, variable, module, linkerFlags }: Release): Part {
  return builtProgram({
    name: "helm",
    partName: `helm ${major}`,
    module,
    package: `helm.sh/helm/v${major}/cmd/helm`,
    linkerFlags,
    takes: "some 2 minutes",
    ways: [`install Helm ${major}`, `or ${installGo}`, `or set ${variable} to the path of a helm program`],
    variable,
    versionArgs: ["version", "--short"],
    version,
    cached: `helm-${version}`,
    suits: (present) => present.major === major,
  });
}
