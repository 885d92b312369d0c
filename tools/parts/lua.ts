// The Lua that health checks for Argo CD are tried with, which is the one that Argo CD has in it
// (GopherLua): JSONPLANE_LUA, a `glua` on the PATH, the cache, or built once with Go. Any Lua 5.1
// or newer will do.

import { builtProgram } from "./built-program.ts";
import { installGo } from "./go.ts";

/** Runs the file that it is given. */
export const lua = builtProgram({
  name: "glua",
  module: "lua",
  package: "github.com/yuin/gopher-lua/cmd/glua",
  takes: "some 10 seconds",
  ways: [
    installGo,
    "or set JSONPLANE_LUA to the path of a Lua interpreter (Debian, Ubuntu: sudo apt-get install lua5.4)",
  ],
  variable: "JSONPLANE_LUA",
  versionArgs: ["-v"],
  // What GopherLua 1.1.1 says of itself.
  version: "0.1",
  cached: "gopher-lua-1.1.1",
  suits: () => true,
});
