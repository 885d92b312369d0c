// Reads the Lua scripts that stand beside this file; a missing one fails when the store is opened. A line `-- include NAME`
// is replaced by scripts/parts/NAME.lua.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export interface Script {
  readonly name: string;
  readonly lua: string;
  /** What EVALSHA calls it by. */
  readonly sha: string;
  /** A script that only reads had no effect, whatever became of its answer. */
  readonly kind: "read" | "write";
}

/** `name` is the file's name without `.lua`; it ends in the number of keys, or in `n` when the header says how many. */
export function loadScript(name: string, kind: Script["kind"]): Script {
  const lua = readLua(name).replace(/^-- include ([a-z-]+)$/gm, (_line, part: string) => readLua(`parts/${part}`));
  return { name, lua, sha: createHash("sha1").update(lua).digest("hex"), kind };
}

function readLua(name: string): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), "utf8");
}
