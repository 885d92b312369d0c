// The S3 server that backups are tried with: GoFakeS3 in memory, behind a check of signatures
// (go/s3/main.go). JSONPLANE_S3, the cache, or built once with Go.

import { builtProgram } from "./built-program.ts";
import { installGo } from "./go.ts";

export const s3Server = builtProgram({
  name: "s3",
  module: "s3",
  package: ".",
  takes: "some 30 seconds",
  ways: [installGo, "or set JSONPLANE_S3 to the path of what `go build` makes of tools/parts/go/s3"],
  variable: "JSONPLANE_S3",
  versionArgs: [],
  cached: "s3-gofakes3-1.2.0",
  suits: () => true,
});
