// Reads Lua scripts from a folder; a missing one fails when it is loaded, at start. A line
// `-- include NAME` is replaced by includes/NAME.lua of that folder.

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
 * `folder` ends in a slash. `path` is the file's path in it, without `.lua`, and the script's name.
 */
export function loadScript(folder: URL, path: string, kind: Script["kind"]): Script {
  const read = (file: string) => readFileSync(new URL(`${file}.lua`, folder), "utf8");
  const lua = read(path).replace(/^-- include ([a-z-]+)$/gm, (_line, include: string) => read(`includes/${include}`));
  return scriptOf(path, lua, kind);
}

/**
 * The same script, which Redis also runs when its memory is used up. For scripts that remove or
 * revoke: they write little, or free more than they write.
 */
export function runsWithoutMemory({ name, lua, kind }: Script): Script {
  return scriptOf(name, `#!lua flags=allow-oom\n${lua}`, kind);
}

export function scriptOf(name: string, lua: string, kind: Script["kind"]): Script {
  return { name, lua, sha: createHash("sha1").update(lua).digest("hex"), kind };
}
