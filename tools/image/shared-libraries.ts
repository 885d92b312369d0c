// Lists the shared libraries that a Linux program loads, by asking the system's loader (ldd).
// Refuses when one is missing.

import { lastWords, runCommand } from "../parts/run-command.ts";

export interface Library {
  /** Where the program looks for it. */
  readonly path: string;
  /** Where it lies. */
  readonly source: string;
}

/** `folder` is searched first, as LD_LIBRARY_PATH. */
export async function sharedLibraries(program: string, folder?: string): Promise<readonly Library[]> {
  const asked = await runCommand("ldd", [program], { env: folder === undefined ? {} : { LD_LIBRARY_PATH: folder } });
  if (asked.code === 127)
    throw new Error("ldd is missing, which lists the libraries of a program: pack the image on Linux");
  if (/not a dynamic executable|statically linked/.test(asked.stdout + asked.stderr)) return [];
  if (asked.code !== 0) throw new Error(`ldd ${program}: ${lastWords(asked)}`);
  const missing = /^\s*(\S+) => not found/m.exec(asked.stdout);
  if (missing) throw new Error(`${program} needs ${missing[1]}, which is not on this machine`);
  const paths = [...asked.stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path]) => path ?? "");
  // What lies in a folder of ours goes where the loader of any system looks.
  return paths.map((source) => ({
    source,
    path: folder !== undefined && source.startsWith(folder) ? `/usr/lib/${source.slice(folder.length + 1)}` : source,
  }));
}
