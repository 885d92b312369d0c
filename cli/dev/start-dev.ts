// Starts dev mode: what can be refused early is refused before anything is made or loaded.

import { stat } from "node:fs/promises";
import { enableCompileCache } from "node:module";
import { programOptions, runProgram } from "../run-program.ts";
import { programWord } from "../shell-words.ts";
import { requireFolder, requireSeed, StartRefused } from "../start-refused.ts";
import { chooseDataFolder, openDataFolder } from "./data-folder/data-folder.ts";
import { watchDataFolder } from "./data-folder/tracked-files.ts";
import type { DevOptions } from "./run-dev.ts";

/** Resolves with the exit code once a signal has ended it, or at once when it can't start. */
export async function startDev(options: DevOptions): Promise<number> {
  return await runProgram(programOptions(options), async (cleanup) => {
    await requireFolder(options.folder);
    await requireManifestsIn(options.folder);
    if (options.seed !== undefined) await requireSeed(options.seed);
    const data = await openDataFolder(options.data ?? chooseDataFolder(options.folder), options.folder);
    cleanup.add(() => data.close());
    // Caching compiled modules makes later starts faster. The cache holds code that is run, so it
    // is in this folder and not in the system's temporary one.
    enableCompileCache(data.file("cache"));
    const { runDev } = await import("./run-dev.ts");
    await runDev(options, data, cleanup);
    const printError = (line: string): void => void process.stderr.write(`jsonplane: ${line}\n`);
    const watch = watchDataFolder(data.path, data.tracked, printError);
    cleanup.add(watch.stop);
    return watch;
  });
}

/** A file of data is easily taken for one of manifests, as json-server serves such files. */
async function requireManifestsIn(path: string): Promise<void> {
  if (!path.endsWith(".json") || (await stat(path)).isDirectory()) return;
  const { readManifests } = await import("../manifests/read-manifests.ts");
  const { objects, problems } = await readManifests(path);
  if (objects.length > 0 || problems.length > 0) return;
  throw new StartRefused(
    `${path} has no manifests in it. If it is data, such as a db.json of json-server: write manifests into a folder, as ${programWord()} init FOLDER does, copy the file into FOLDER/seed, and serve FOLDER. Dev mode then says how to divide the file`,
  );
}
