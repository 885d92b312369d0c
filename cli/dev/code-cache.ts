// Lets Node keep what it makes of our modules in the data folder, which spares every start but the first a good part of its
// time. There and not in the system's folder for temporary files, because what lies there is run.

import { mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";

export function keepCompiledCode(dataFolder: string): void {
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  } catch {
    // Whatever the reason, opening the data folder meets it too, and refuses to start with it.
    return;
  }
  enableCompileCache(join(dataFolder, "cache"));
}
