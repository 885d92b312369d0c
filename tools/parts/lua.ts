// The Lua that health checks for Argo CD are tried with, which is the one that Argo CD has in it (GopherLua): JSONPLANE_LUA, a `glua` on the
// PATH, the cache, or built once with Go. Any Lua 5.1 or newer will do. Refuses with PartMissing, which says how to get one.

import { findProgram } from "./built-program.ts";
import type { Environment } from "./cache.ts";

/** The path of a program that runs the file that it is given. */
export async function findLua(env: Environment): Promise<string> {
  const { path } = await findProgram(env, source, () => true);
  return path;
}

const source = {
  name: "glua",
  module: "lua",
  package: "github.com/yuin/gopher-lua/cmd/glua",
  takes: "some 10 seconds, once",
  ways: [
    "install Go 1.21 or newer (Debian, Ubuntu: sudo apt-get install golang; macOS: brew install go) and run this again",
    "or set JSONPLANE_LUA to the path of a Lua interpreter (Debian, Ubuntu: sudo apt-get install lua5.4)",
  ],
  variables: ["JSONPLANE_LUA"],
  versionArgs: ["-v"],
  // What GopherLua 1.1.1 says of itself.
  version: "0.1",
  cached: "gopher-lua-1.1.1",
} as const;
