// The store's own Lua scripts, in the folder beside this file.

import { loadScript, runsWithoutMemory, type Script } from "../../../core/redis/script.ts";

const folder = new URL("./scripts/", import.meta.url);

/** One that goes on when Redis' memory is used up. */
export function freeingScript(name: string): Script {
  return runsWithoutMemory(storeScript(name, "write"));
}

export function storeScript(name: string, kind: Script["kind"]): Script {
  return loadScript(folder, name, kind);
}
