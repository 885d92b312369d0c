// Finds a Python 3 that has pip. Debian ships one without: then python3-pip is installed where that is possible without a
// question. Refuses with PartMissing.

import type { Environment } from "./cache.ts";
import { partMissing } from "./part-missing.ts";
import { installDebianPackage } from "./programs.ts";
import { runCommand } from "./run-command.ts";

const ways: readonly string[] = [
  "Debian, Ubuntu: sudo apt-get install python3-pip",
  "elsewhere: install Python 3 with pip, and see that python3 -m pip works",
  "or set JSONPLANE_REJSON to the path of a rejson.so",
];

/** The name or path of a Python that can run `-m pip`. */
export async function pythonWithPip(env: Environment): Promise<string> {
  const present = await firstWithPip();
  if (present) return present;
  const refusal = await installDebianPackage("python3-pip", env);
  const installed = refusal === undefined ? await firstWithPip() : undefined;
  if (installed) return installed;
  throw partMissing(
    `Python 3 with pip is missing, which fetches the RedisJSON module; ${refusal ?? "it has no pip still"}`,
    ways,
  );
}

async function firstWithPip(): Promise<string | undefined> {
  for (const python of ["python3", "/usr/bin/python3", "python"]) {
    const pip = await runCommand(python, ["-m", "pip", "--version"]);
    if (pip.code === 0) return python;
  }
  return undefined;
}
