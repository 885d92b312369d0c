// Deletes stored objects and values of dev mode's embedded store: all of them, or those of some
// resources and root keys. Users, keys, passwords and sessions stay. Dev mode locks its data
// folder, so the two never work at the same time.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { systemClock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { purgeCollection, purgeDocument } from "../../dataplane/config/purge-steps.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { type StoredNames, storedNames } from "../../dataplane/store/embedded/stored-names.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { isDataObject } from "../../operator/model/objects.ts";
import { projectRefOf } from "../../operator/model/project-objects.ts";
import { applyManifests } from "../dev/apply/apply-manifests.ts";
import { readFolder } from "../dev/apply/read-folder.ts";
import { chooseDataFolder, openDataFolder, otherDataFolders } from "../dev/data-folder/data-folder.ts";
import { createStateFile, type DevState, liveManifest, storedObject } from "../dev/data-folder/dev-state.ts";
import { dataPathOf } from "../dev/stored-data/pending-deletions.ts";
import { hidesObjects } from "../manifests/check-manifests.ts";
import { problemLine } from "../manifests/source.ts";
import { programOptions, runProgram } from "../run-program.ts";
import { programWord, shellWord } from "../shell-words.ts";
import { requireFolder, StartRefused } from "../start-refused.ts";

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
  return await runProgram(programOptions({ host: "" }), async (cleanup) => {
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
    cleanup.add(() => opened.close());
    const stored = storedData(storedNames(opened.file("store")));
    const describeLeft = (result: ChosenData): readonly string[] => leftLines(result, folder, data);
    const state = await createStateFile(opened.file("objects.json")).read();
    const result =
      project === undefined
        ? await dataOfManifests(stored, { folder, state, only, describeLeft })
        : dataOfProject(stored, project, only);
    const store = await createEmbeddedStore({ directory: opened.file("store"), clock: systemClock });
    cleanup.add(() => store.close());
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
    await purgeDocument(store, { project, rootKey: name });
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

export interface StoredData {
  readonly project: ProjectRef;
  readonly kind: "api" | "json";
  /** Of the resource or root key. */
  readonly name: string;
  /** Of a resource. */
  readonly objects: number;
}

export interface ChosenData {
  readonly chosen: readonly StoredData[];
  /** What no manifest names. */
  readonly left: readonly StoredData[];
  /** `<namespace>/<name>` of the Projects that were searched. */
  readonly projects: readonly string[];
}

/** As in the URL: `<namespace>/<project>/api/<resource>`. */
export function pathOf({ project, kind, name }: StoredData): string {
  return `${keyOfProject(project)}/${kind}/${name}`;
}

export function storedData({ collections, documents }: StoredNames): readonly StoredData[] {
  return [
    ...collections.map(({ collection: { project, resource }, objects }) => {
      return { project, kind: "api", name: resource, objects } as const;
    }),
    ...documents.map(({ project, rootKey }) => ({ project, kind: "json", name: rootKey, objects: 0 }) as const),
  ];
}

/** All that is stored of one Project, whether a manifest names it or not. */
function dataOfProject(stored: readonly StoredData[], key: string, only: readonly string[]): ChosenData {
  const own = stored.filter(({ project }) => keyOfProject(project) === key);
  if (own.length === 0) {
    const projects = [...new Set(stored.map(({ project }) => keyOfProject(project)))];
    const others = projects.length === 0 ? "nothing is" : `there are data of ${projects.join(", ")}`;
    throw new StartRefused(`Nothing is stored of the Project ${key}; ${others}`);
  }
  requireNames(own.map(pathOf), only, `the Project ${key}`);
  return { chosen: own.filter((data) => isMeant(pathOf(data), only)), left: [], projects: [key] };
}

export interface NamedDataOptions {
  readonly folder: string;
  readonly state: DevState;
  readonly only: readonly string[];
  /** How what is left can be deleted. */
  readonly describeLeft: (chosen: ChosenData) => readonly string[];
}

/** What the manifests name that are in the folder now, whatever dev mode served last. */
async function dataOfManifests(stored: readonly StoredData[], options: NamedDataOptions): Promise<ChosenData> {
  const { folder, state, only, describeLeft } = options;
  const objects = await presentObjects(folder, state);
  const projects = [...objects.values()].filter(({ manifest }) => manifest.kind === "Project");
  const keys = projects.map(({ manifest: { metadata } }) => `${metadata.namespace}/${metadata.name}`);
  const named = [...objects.values()]
    .map((known) => storedObject(known, known.manifest))
    .filter(isDataObject)
    .filter((object) => keys.includes(keyOfProject(projectRefOf(object))))
    .map(dataPathOf);
  const result: ChosenData = {
    chosen: stored.filter((data) => named.includes(pathOf(data)) && isMeant(pathOf(data), only)),
    left: stored.filter((data) => !named.includes(pathOf(data))),
    projects: keys,
  };
  const wasServed = keys.some((key) => {
    const known = state.objects.get(`Project/${key}`);
    return known !== undefined && liveManifest(known) !== undefined;
  });
  if (!wasServed) {
    const what = keys.length === 0 ? "has no Project" : `has the Project ${keys.join(", ")}, never served from here`;
    throw new StartRefused([`${folder} ${what}: nothing is deleted`, ...describeLeft(result)].join("\n"));
  }
  requireNames(named, only, folder);
  return result;
}

/** What dev mode would find there. A file that can't be read may name anything. */
async function presentObjects(folder: string, state: DevState): Promise<DevState["objects"]> {
  const { checked } = await readFolder(folder, state, new Map());
  const unread = checked.problems.find(hidesObjects);
  if (unread !== undefined) {
    throw new StartRefused(`${problemLine(unread)}: fix it first, so that it is clear what to delete`);
  }
  const fileKey = (file: string): string => relative(folder, file);
  return applyManifests(checked, state, { now: 0, newUid: randomUUID, fileKey }).objects;
}

function requireNames(paths: readonly string[], only: readonly string[], owner: string): void {
  const unknown = only.find((name) => !paths.some((path) => isMeant(path, [name])));
  if (unknown !== undefined) {
    const names = paths.length === 0 ? "none at all" : paths.join(", ");
    throw new StartRefused(`${owner} has no resource or root key called ${unknown}; it has ${names}`);
  }
}

/** None = all. */
function isMeant(path: string, only: readonly string[]): boolean {
  const name = path.split("/").slice(3).join("/");
  return only.length === 0 || only.includes(path) || only.includes(name);
}
