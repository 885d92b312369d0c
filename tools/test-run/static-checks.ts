// The checks that read the code without running it: style, types, layers. They run side by side; each failure is printed whole.

import { lastWords, runCommand } from "../parts/run-command.ts";

interface StaticCheck {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

/** With what tsc knows of the last run: unchanged files that import nothing changed are not checked again. Deleting that is safe. */
function types(folder: string, state: string): StaticCheck["command"] {
  return [
    "tsc",
    "-p",
    folder,
    "--incremental",
    "--tsBuildInfoFile",
    `node_modules/.cache/jsonplane/${state}.tsbuildinfo`,
  ];
}

/** Returns the names of the checks that failed. */
export async function runStaticChecks(root: string): Promise<readonly string[]> {
  const checks: readonly StaticCheck[] = [
    { name: "check:style", command: ["biome", "ci", "--colors=off", "--error-on-warnings", "."] },
    { name: "check:types", command: types(".", "types") },
    { name: "check:types of pages", command: types("pages", "types-of-pages") },
    { name: "check:layers", command: [process.execPath, "tools/check-layers.ts"] },
  ];
  const results = await Promise.all(checks.map((check) => passes(root, check)));
  return checks.filter((_, index) => !results[index]).map((check) => check.name);
}

async function passes(root: string, check: StaticCheck): Promise<boolean> {
  const started = performance.now();
  const [command, ...args] = check.command;
  const done = await runCommand(command, args, { cwd: root });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`${done.code === 0 ? "ok    " : "FAILED"} ${check.name} (${seconds} s)`);
  if (done.code !== 0) console.log(lastWords(done, 200));
  return done.code === 0;
}
