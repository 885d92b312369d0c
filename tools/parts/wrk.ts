// The load generator of the benchmarks: on the PATH, or Debian's package.

import { debianProgram } from "./debian-packages.ts";

export const wrk = debianProgram({ name: "wrk", package: "wrk", ways: ["macOS: brew install wrk"] });
