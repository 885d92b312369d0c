// One Project with all objects that refer to it, each structurally valid and with its defaults
// filled in.

import type { ProjectLimits, ProjectRef } from "../../core/config/types.ts";
import { childKindNames, childKinds } from "./kinds.ts";
import type {
  ApiKey,
  ApiResource,
  Child,
  CustomResource,
  DeletionPolicy,
  Project,
  ProjectUser,
  RootKey,
} from "./objects.ts";
import type { Refusal } from "./verdict.ts";

export interface ProjectObjects {
  readonly ref: ProjectRef;
  /** Absent when its children name a Project that does not exist. */
  readonly project?: Project;
  readonly resources: readonly ApiResource[];
  readonly rootKeys: readonly RootKey[];
  readonly users: readonly ProjectUser[];
  readonly keys: readonly ApiKey[];
  /** UIDs of children without a Project that another installation looks after; absent = none. */
  readonly othersUids?: ReadonlySet<string>;
  /** By UID, what the platform's rules forbid; absent = nothing. */
  readonly notAllowed?: ReadonlyMap<string, Refusal>;
  /** The platform has data retained here, whatever manifests and annotations say. */
  readonly retainsData?: true;
  /**
   * The platform lets objects here take over data of an earlier namespace, and credentials of
   * earlier objects.
   */
  readonly mayAdopt?: true;
  /**
   * Cuts the limits of a version that was published before to what the platform's rules allow now;
   * absent = they stay.
   */
  readonly limitPublished?: (limits: ProjectLimits) => ProjectLimits;
}

/** What the watches know of a Project at one moment. */
export interface Seen {
  readonly objects: ProjectObjects;
  /**
   * Objects of the Project that the watch or a list reported as gone since they were last taken.
   */
  readonly deleted: readonly CustomResource[];
}

/**
 * On a Project: data of an earlier namespace may be served, and restored Secrets of the Project and
 * its children may be used, where the platform allows it.
 */
export const adoptAnnotation = "jsonplane.io/adopt-data";

/** By kind, as the table of kinds has them, and each kind by name. */
export function childrenOf(objects: ProjectObjects): readonly Child[] {
  return childKindNames.flatMap((kind) => {
    const children: readonly Child[] = objects[childKinds[kind].member];
    return [...children].sort(byName);
  });
}

/** The Project, where it exists, and its children. */
export function allObjects(objects: ProjectObjects): readonly CustomResource[] {
  return [...(objects.project === undefined ? [] : [objects.project]), ...childrenOf(objects)];
}

/**
 * UIDs and generations of all the objects: equal texts mean the same objects with the same specs.
 */
export function versionsOf(objects: ProjectObjects): string {
  return allObjects(objects)
    .map(({ metadata: { uid, generation } }) => `${uid}/${generation}`)
    .join(" ");
}

/** The Project that an object names, or is. */
export function projectRefOf(object: CustomResource): ProjectRef {
  const { namespace = "", name } = object.metadata;
  return { namespace, name: object.kind === "Project" ? name : object.spec.projectRef.name };
}

/** By code units, so that the order is the same on every machine. */
export function byName(a: Child, b: Child): number {
  if (a.metadata.name === b.metadata.name) return 0;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

/**
 * True once the API server has accepted its DELETE: the object goes when its last finalizer is
 * removed.
 */
export function isDeleting({ metadata }: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/**
 * Whether the data of an object go with it: its own policy when it states one, else its Project's,
 * else they stay. `child` absent = the Project's own data as a whole. Users and keys have no data.
 */
export function effectiveDeletionPolicy(project: Project | undefined, child?: Child): DeletionPolicy {
  const own = child !== undefined && "deletionPolicy" in child.spec ? child.spec.deletionPolicy : undefined;
  return own ?? project?.spec.deletionPolicy ?? "Retain";
}
