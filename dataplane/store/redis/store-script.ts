// The store's own Lua scripts, in the folder beside this file.

import { loadScript, type Script } from "../../../core/redis/script.ts";

const folder = new URL("./scripts/", import.meta.url);

export function storeScript(name: string, kind: Script["kind"]): Script {
  return loadScript(folder, name, kind);
}
