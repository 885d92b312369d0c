// How stored data is addressed, and whose objects a call sees.

import type { ProjectRef } from "../../../core/config/types.ts";

export interface CollectionRef {
  readonly project: ProjectRef;
  readonly resource: string;
}

export interface DocumentRef {
  readonly project: ProjectRef;
  readonly rootKey: string;
}

/** Decoded path segments below the root; whether one is a key or an index, the container's type decides. */
export type Path = readonly string[];

/** An owner as stored, `<creator_type>:<creator>`, e.g. `user:alice`, `apikey:frontend`, `anonymous:anonymous`. */
export type Owner = string;

/** Which objects a query sees: all of a collection, or one owner's. */
export interface Visibility {
  readonly owner?: Owner;
}
