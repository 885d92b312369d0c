// prom-label-proxy, through which tests ask Prometheus as the team of one namespace does:
// JSONPLANE_PROM_LABEL_PROXY, the cache, or built once with Go.

import { builtProgram } from "./built-program.ts";
import { installGo } from "./go.ts";

const variable = "JSONPLANE_PROM_LABEL_PROXY";

export const promLabelProxy = builtProgram({
  name: "prom-label-proxy",
  module: "prom-label-proxy",
  package: "github.com/prometheus-community/prom-label-proxy",
  takes: "some 1 minute",
  ways: [installGo, `or set ${variable} to the path of the program`],
  variable,
  versionArgs: [],
  cached: "prom-label-proxy-0.11.1",
  suits: () => true,
});
