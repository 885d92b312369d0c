// Every rule of the repository's shape over a folder's sources: what is found, in the order of
// paths. No violations = it holds.

import { directionViolations } from "./direction-rules.ts";
import { fileViolations } from "./file-rules.ts";
import { luaViolations } from "./lua-rules.ts";
import { readSources } from "./read-sources.ts";
import type { Violation } from "./violations.ts";

export async function checkLayers(
  root: string,
): Promise<{ readonly files: number; readonly violations: readonly Violation[] }> {
  const sources = await readSources(root);
  const each = sources.flatMap((source) => [...fileViolations(source), ...luaViolations(source)]);
  const violations = [...each, ...directionViolations(sources)];
  violations.sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
  return { files: sources.length, violations };
}
