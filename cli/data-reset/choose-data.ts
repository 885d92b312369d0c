// Decides which stored data a reset deletes: what the manifests name as they are now, or all of one Project. Refuses names that nothing has,
// and Projects that dev mode never served, before anything is deleted.

import { randomUUID } from "node:crypto";
import { relative } from "node:path";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { StoredNames } from "../../dataplane/store/embedded/stored-names.ts";
import { isDataObject } from "../../operator/model/objects.ts";
import { projectRefOf } from "../../operator/model/project-objects.ts";
import { applyManifests } from "../dev/apply/apply-manifests.ts";
import { readFolder } from "../dev/apply/read-folder.ts";
import { type DevState, liveManifest, storedObject } from "../dev/data-folder/dev-state.ts";
import { dataPathOf } from "../dev/stored-data/pending-deletions.ts";
import { hidesObjects } from "../manifests/check-manifests.ts";
import { problemLine } from "../manifests/source.ts";
import { StartRefused } from "../start-refused.ts";

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
  /** `<namespace>/<name>` of those that were looked at. */
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
export function dataOfProject(stored: readonly StoredData[], key: string, only: readonly string[]): ChosenData {
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
export async function dataOfManifests(stored: readonly StoredData[], options: NamedDataOptions): Promise<ChosenData> {
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
    throw new StartRefused(`${problemLine(unread)}: mend it first, so that it is clear what to delete`);
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
