// Rules of a Lua script (docs/ARCHITECTURE.md): named `<name>-<numkeys>.lua`, or `-n` when the call
// says how many keys there are, it opens with Purpose, KEYS, ARGV and Returns, and uses exactly the
// keys that its name counts. A file in includes/ is included by scripts and has no keys of its own.
// Pure: a source in, violations out.

import type { Source } from "./read-sources.ts";
import { type Violation, violation } from "./violations.ts";

const nameForm = /^[a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*-(\d+|n)\.lua$/;
const sections = ["Purpose", "KEYS", "ARGV", "Returns"] as const;

export function luaViolations(source: Source): readonly Violation[] {
  const { path } = source;
  if (!path.endsWith(".lua")) return [];
  const name = path.split("/").at(-1) ?? "";
  const count = nameForm.exec(name)?.[1];
  if (path.includes("/includes/")) return [];
  if (count === undefined) return [violation(path, 1, "is not named <name>-<numkeys>.lua, nor <name>-n.lua")];
  return [...headerViolations(source), ...(count === "n" ? [] : keyViolations(source, Number(count)))];
}

function headerViolations({ path, lines }: Source): readonly Violation[] {
  const end = lines.findIndex((line) => !line.startsWith("--") && line.trim() !== "");
  const header = end < 0 ? lines : lines.slice(0, end);
  const at = sections.map((section) => header.findIndex((line) => new RegExp(`^-- ?${section}\\b`).test(line)));
  const absent = sections.filter((_, index) => at[index] === -1);
  if (absent.length > 0)
    return [violation(path, 1, `its header lacks ${absent.join(", ")} (in the order ${sections.join(", ")})`)];
  const ordered = at.every((line, index) => index === 0 || line > (at[index - 1] ?? -1));
  return ordered ? [] : [violation(path, 1, `its header is not in the order ${sections.join(", ")}`)];
}

function keyViolations({ path, lines }: Source, count: number): readonly Violation[] {
  const code = lines.filter((line) => !line.trimStart().startsWith("--")).join("\n");
  const used = [...code.matchAll(/\bKEYS\[(\d+)\]/g)].map((match) => Number(match[1]));
  const beyond = used.find((index) => index > count || index < 1);
  if (beyond !== undefined) return [violation(path, 1, `uses KEYS[${beyond}], its name counts ${count}`)];
  const unused = Array.from({ length: count }, (_, index) => index + 1).filter((index) => !used.includes(index));
  // A script that walks over KEYS uses them all.
  if (unused.length === 0 || /#KEYS\b|\bKEYS\[[a-z]|pairs\(KEYS\)|unpack\(KEYS/.test(code)) return [];
  return [violation(path, 1, `its name counts ${count} keys, it never names KEYS[${unused.join("], KEYS[")}]`)];
}
