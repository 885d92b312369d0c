// Which objects belong to which Project: an index over the watched kinds, by
// `<namespace>/<project>`. A Project that only its children name has an entry too, so that their
// statuses say that it is missing.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Kind } from "../../core/manifests/object.ts";
import type { KubeObject } from "../kube/api.ts";
import { controllerOf } from "../model/controller.ts";
import { childrenByKind } from "../model/kinds.ts";
import type { Child, CustomResource, Project } from "../model/objects.ts";
import { type ProjectObjects, projectRefOf } from "../model/project-objects.ts";

export interface ProjectIndex {
  /** Takes over an object as it is now; answers with the key of its Project. */
  put(object: CustomResource): string;
  remove(object: CustomResource): string;
  objectsOf(ref: ProjectRef): ProjectObjects;
  projectOf(ref: ProjectRef): Project | undefined;
  keys(): Iterable<string>;
  all(): Iterable<CustomResource>;
}

interface Entry {
  project?: Project;
  /** By `<kind>/<name>`. */
  readonly children: Map<string, Child>;
}

/**
 * What an object was before a change, and what it is since; undefined = it was not there, or is no
 * more.
 */
export type ObserveObject = (before: CustomResource | undefined, now: CustomResource | undefined) => void;

export function createProjectIndex(observe: ObserveObject = () => undefined): ProjectIndex {
  const entries = new Map<string, Entry>();
  const entryOf = (key: string): Entry => {
    const found = entries.get(key);
    if (found !== undefined) return found;
    const made: Entry = { children: new Map() };
    entries.set(key, made);
    return made;
  };
  return {
    put(object) {
      const key = keyOfProject(projectRefOf(object));
      const entry = entryOf(key);
      observe(presentIn(entry, object), object);
      if (object.kind === "Project") entry.project = object;
      else entry.children.set(childKey(object), object);
      return key;
    },
    remove(object) {
      const key = keyOfProject(projectRefOf(object));
      const entry = entries.get(key);
      if (entry === undefined) return key;
      observe(presentIn(entry, object), undefined);
      if (object.kind === "Project") delete entry.project;
      else entry.children.delete(childKey(object));
      if (entry.project === undefined && entry.children.size === 0) entries.delete(key);
      return key;
    },
    objectsOf(ref) {
      const { project, children } = entries.get(keyOfProject(ref)) ?? { children: new Map<string, Child>() };
      return { ref, ...(project !== undefined && { project }), ...childrenByKind(children.values()) };
    },
    projectOf: (ref) => entries.get(keyOfProject(ref))?.project,
    keys: () => entries.keys(),
    *all() {
      for (const { project, children } of entries.values()) {
        if (project !== undefined) yield project;
        yield* children.values();
      }
    },
  };
}

function presentIn({ project, children }: Entry, object: CustomResource): CustomResource | undefined {
  return object.kind === "Project" ? project : children.get(childKey(object));
}

/** Joined as in keyOfProject, to take less memory. */
function childKey({ kind, metadata }: Child): string {
  return [kind, metadata.name].join("/");
}

/**
 * The API server has checked the object against its CRD and filled in defaults; it says the kind of
 * custom resources in lists, too.
 */
export function customResource(kind: Kind, object: KubeObject): CustomResource {
  return (object.kind === kind ? object : { ...object, kind }) as unknown as CustomResource;
}

/**
 * Whether anything that the operator acts on differs. A status that changed is its own doing,
 * unless another installation took the object.
 */
export function hasRelevantChange(now: KubeObject, before: KubeObject | undefined): boolean {
  if (before === undefined) return true;
  const [is, was] = [now.metadata, before.metadata];
  return (
    is.uid !== was.uid ||
    is.generation !== was.generation ||
    // By identity: the cache reuses an equal spec. Generations may repeat after a restored backup.
    now["spec"] !== before["spec"] ||
    is.deletionTimestamp !== was.deletionTimestamp ||
    JSON.stringify(is.annotations ?? {}) !== JSON.stringify(was.annotations ?? {}) ||
    JSON.stringify(is.finalizers ?? []) !== JSON.stringify(was.finalizers ?? []) ||
    (controllerOf(before) !== undefined && controllerOf(before) !== controllerOf(now))
  );
}
