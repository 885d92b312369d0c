// Reads Lua scripts from a folder; a missing one fails when it is loaded, at start. A line `-- include NAME` is replaced by
// parts/NAME.lua of that folder.

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

/**
 * `folder` ends in a slash; `name` is the file's name without `.lua`; it ends in the number of keys, or in `n` when the header says how
 * many.
 */
export function loadScript(folder: URL, name: string, kind: Script["kind"]): Script {
  const read = (file: string) => readFileSync(new URL(`${file}.lua`, folder), "utf8");
  const lua = read(name).replace(/^-- include ([a-z-]+)$/gm, (_line, part: string) => read(`parts/${part}`));
  return scriptOf(name, lua, kind);
}

/**
 * The same script, which Redis runs also when its memory is used up: for what removes and revokes, and writes so little for it, or
 * frees so much, that refusing it would help nobody.
 */
export function runsWithoutMemory({ name, lua, kind }: Script): Script {
  return scriptOf(name, `#!lua flags=allow-oom\n${lua}`, kind);
}

export function scriptOf(name: string, lua: string, kind: Script["kind"]): Script {
  return { name, lua, sha: createHash("sha1").update(lua).digest("hex"), kind };
}
