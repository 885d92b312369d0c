// Every rule of the repository's shape over a folder's sources: what is found, in the order of paths. No findings = it holds.

import { directionFindings } from "./direction-rules.ts";
import { fileFindings } from "./file-rules.ts";
import { luaFindings } from "./lua-rules.ts";
import { readSources } from "./read-sources.ts";
import type { Finding } from "./violations.ts";

export interface LayerReport {
  readonly files: number;
  readonly findings: readonly Finding[];
}

export async function checkLayers(root: string): Promise<LayerReport> {
  const sources = await readSources(root);
  const each = sources.flatMap((source) => [...fileFindings(source), ...luaFindings(source)]);
  const findings = [...each, ...directionFindings(sources)];
  findings.sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
  return { files: sources.length, findings };
}
