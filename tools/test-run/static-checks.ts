// The checks that read the code without running it. They run side by side; each failure is printed
// whole.

import { lastWords, runCommand } from "../parts/run-command.ts";

type Command = readonly [string, ...string[]];

/**
 * With what tsc knows of the last run: it skips files whose imports haven't changed. Deleting the
 * state is safe.
 */
function types(folder: string, state: string): Command {
  const file = `node_modules/.cache/jsonplane/${state}.tsbuildinfo`;
  return ["tsc", "-p", folder, "--incremental", "--tsBuildInfoFile", file];
}

export const staticChecks: Readonly<Record<string, readonly Command[]>> = {
  style: [["biome", "ci", "--colors=off", "--error-on-warnings", "."]],
  // The program is built without the types that tests bring.
  types: [
    types(".", "types"),
    types("pages", "types-of-pages"),
    types("client", "types-of-client"),
    [...types("tsconfig.build.json", "types-of-build"), "--noEmit"],
  ],
  layers: [[process.execPath, "tools/check-layers.ts"]],
};

/** Returns the names of the checks that failed. */
export async function runStaticChecks(
  root: string,
  names: readonly string[] = Object.keys(staticChecks),
): Promise<readonly string[]> {
  const results = await Promise.all(names.map((name) => passes(root, name)));
  return names.filter((_, index) => !results[index]);
}

async function passes(root: string, name: string): Promise<boolean> {
  const started = performance.now();
  const commands = staticChecks[name] ?? [];
  const done = await Promise.all(commands.map(([command, ...args]) => runCommand(command, args, { cwd: root })));
  const failed = done.filter(({ code }) => code !== 0);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`${failed.length === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  for (const each of failed) console.log(lastWords(each, 200));
  return failed.length === 0;
}
