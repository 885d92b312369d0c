// schemathesis, which makes requests of an OpenAPI document: JSONPLANE_SCHEMATHESIS, the PATH, then
// the cache, where a pinned release of the Python package index is installed apart from everything
// else.

import { installedFromPypi } from "./python.ts";

const version = "4.32.5";

export const schemathesis = installedFromPypi({
  name: "schemathesis",
  variable: "JSONPLANE_SCHEMATHESIS",
  packages: [`schemathesis==${version}`],
  version,
  takes: "some 30 seconds",
});
