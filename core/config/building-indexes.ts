// The indexes that a replica is building, as JSON in its acknowledgement.

import type { UniqueRule } from "./types.ts";

export interface BuildingIndexes {
  /** `<namespace>/<name>`. */
  readonly project: string;
  readonly resource: string;
  /** Names, as in spec.indexes, and those of unique rules. */
  readonly indexes: readonly string[];
}

/** `unique(tenant,slug)`. */
export function nameOfRule({ fields }: UniqueRule): string {
  return `unique(${fields.map(({ name }) => name).join(",")})`;
}
