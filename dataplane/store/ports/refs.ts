// How stored data is addressed, and whose objects a call sees.

import { keyOfProject } from "../../../core/config/config-keys.ts";
import type {
  ChangeLogConfig,
  Durability,
  ExpiryConfig,
  ProjectRef,
  ProjectSettings,
  ResourceConfig,
  RootKeyConfig,
} from "../../../core/config/types.ts";

interface DurableRef {
  /**
   * What its writes wait for, beyond the store's own promise; a store without replicas ignores it.
   * Where present, a write that changes nothing is carried out all the same: what it found may not
   * be replicated yet.
   */
  readonly durability?: Durability;
}

export interface CollectionRef extends DurableRef {
  readonly project: ProjectRef;
  readonly resource: string;
  /**
   * The log that its writes keep. Absent = none: a write without it deletes a log that it finds, so
   * that no log has a gap.
   */
  readonly changes?: ChangeLogConfig;
  /** When its objects expire; absent = never. */
  readonly expiry?: ExpiryConfig;
  /**
   * Of the configuration by which its writes are validated: see `refuseOlderWriters`. Absent = they
   * are never refused.
   */
  readonly revision?: number;
}

export interface DocumentRef extends DurableRef {
  readonly project: ProjectRef;
  readonly rootKey: string;
  /** As of a collection. */
  readonly changes?: ChangeLogConfig;
}

/** `<namespace>/<project>/<resource>`. */
export function nameOfCollection({ project, resource }: CollectionRef): string {
  return `${keyOfProject(project)}/${resource}`;
}

type OwnProject = ProjectRef & Pick<ProjectSettings, "durability">;

/**
 * Every write has a reference made here, so that none leaves out the log, the revision or what it
 * has to wait for.
 */
export function collectionOf(
  project: OwnProject,
  { config, revision }: { readonly config: ResourceConfig; readonly revision: number },
): CollectionRef {
  const { name, changes, expiry } = config;
  return {
    project,
    resource: name,
    revision,
    ...durabilityOf(project),
    ...(changes && { changes }),
    ...(expiry && { expiry }),
  };
}

/** As of a collection. */
export function documentOf(project: OwnProject, { key, changes }: RootKeyConfig): DocumentRef {
  return { project, rootKey: key, ...durabilityOf(project), ...(changes && { changes }) };
}

function durabilityOf({ durability }: OwnProject): DurableRef {
  return durability === undefined ? {} : { durability };
}

/** Decoded path segments below the root: keys or indexes, by the type of the container. */
export type Path = readonly string[];

/**
 * As stored, `<creator_type>:<creator>`: `user:alice`, `apikey:frontend`, `anonymous:anonymous`.
 */
export type Owner = string;

/** Which objects a query sees: all of a collection, or one owner's. */
export interface Visibility {
  readonly owner?: Owner;
}
