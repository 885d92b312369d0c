// Words for command lines that people paste into a shell.

import { relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const ofRepository = fileURLToPath(new URL("../bin/jsonplane", import.meta.url));

/** How to run this program again: from a clone, or installed in a project or globally. */
export function programWord(entry = process.argv[1] ?? ""): string {
  if (entry.includes(`${sep}node_modules${sep}.bin${sep}`)) return "npx jsonplane";
  if (!entry.endsWith(".ts")) return "jsonplane";
  return shellWord(relative(resolve(), ofRepository));
}
