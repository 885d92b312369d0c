// Deletes stored objects and values of dev mode's embedded store, all of them or those of some resources and root keys. Users, keys, passwords
// and sessions stay. Dev mode holds its data folder, so that the two never work at the same time.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { purgeCollection, purgeWholeDocument } from "../../dataplane/config/purge-whole.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { storedNames } from "../../dataplane/store/embedded/stored-names.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { chooseDataFolder, openDataFolder, otherDataFolders } from "../dev/data-folder/data-folder.ts";
import { createStateFile } from "../dev/data-folder/dev-state.ts";
import { programOptions, runProgram } from "../run-program.ts";
import { programWord, shellWord } from "../shell-words.ts";
import { requireFolder, StartRefused } from "../start-refused.ts";
import { type ChosenData, dataOfManifests, dataOfProject, pathOf, type StoredData, storedData } from "./choose-data.ts";

export interface ResetSettings {
  readonly data: string | undefined;
  /** `<namespace>/<name>`. */
  readonly project: string | undefined;
  /** Names of resources and root keys, or paths as in the URL; none = all. */
  readonly only: readonly string[];
}

/** Resolves with the exit code. */
export async function runReset(folder: string, settings: ResetSettings): Promise<number> {
  const { data, project, only } = settings;
  return await runProgram(programOptions({ host: "" }), async (closers) => {
    await requireFolder(folder);
    const path = data ?? chooseDataFolder(folder);
    if (!existsSync(join(path, "objects.json"))) {
      const others = (await otherDataFolders(folder, path)).map(
        (other) => `; there are data of it in ${other}, name them with --data`,
      );
      throw new StartRefused(
        `Nothing is stored for ${folder}: dev mode has never served it with the data folder ${path}${others.join("")}`,
      );
    }
    const opened = await openDataFolder(path, folder);
    closers.push(() => opened.close());
    const stored = storedData(storedNames(opened.file("store")));
    const describeLeft = (result: ChosenData): readonly string[] => leftLines(result, folder, data);
    const state = await createStateFile(opened.file("objects.json")).read();
    const result =
      project === undefined
        ? await dataOfManifests(stored, { folder, state, only, describeLeft })
        : dataOfProject(stored, project, only);
    const store = await createEmbeddedStore({ directory: opened.file("store"), clock: systemClock });
    closers.push(() => store.close());
    for (const chosen of result.chosen) print(await reset(chosen, store));
    if (result.chosen.length === 0) print(`Nothing is stored of ${only.join(", ") || result.projects.join(", ")}`);
    for (const line of describeLeft(result)) print(line);
    return { ended: Promise.resolve(0) };
  });
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function reset(data: StoredData, store: Store): Promise<string> {
  const { project, kind, name } = data;
  if (kind === "json") {
    await purgeWholeDocument(store, { project, rootKey: name });
    return `${pathOf(data)}: its value is deleted`;
  }
  await purgeCollection(store, { project, resource: name });
  return `${pathOf(data)}: ${counted(data)} ${data.objects === 1 ? "is" : "are"} deleted`;
}

function counted({ objects }: StoredData): string {
  return objects === 1 ? "1 object" : `${objects} objects`;
}

/** A line for each Project, with the command that deletes what is left of it. */
function leftLines({ left, projects }: ChosenData, folder: string, data: string | undefined): readonly string[] {
  const command = [
    programWord(),
    "data reset",
    shellWord(folder),
    ...(data === undefined ? [] : ["--data", shellWord(data)]),
  ];
  return [...Map.groupBy(left, ({ project }) => keyOfProject(project))].map(([key, own]) => {
    const names = own.map((each) => (each.kind === "api" ? `${pathOf(each)} (${counted(each)})` : pathOf(each)));
    const only = projects.includes(key) ? ["--only", own.map((each) => shellWord(pathOf(each))).join(",")] : [];
    const way = [...command, "--project", key, ...only].join(" ");
    return `Kept, because no manifest names it: ${names.join(", ")}. To delete it: ${way}`;
  });
}
