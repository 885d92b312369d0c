// A rule of docs/reference/changes.md, and how it is checked from outside.

import type { Collection } from "../collection.ts";

export interface Rule {
  readonly says: string;
  /** Throws Differs. */
  readonly check: (collection: Collection) => Promise<void>;
}
