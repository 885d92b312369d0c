// The indexes that a replica is building, as JSON in its acknowledgement.

export interface BuildingIndexes {
  /** `<namespace>/<name>`. */
  readonly project: string;
  readonly resource: string;
  /** Names, as in spec.indexes, and those of unique rules. */
  readonly indexes: readonly string[];
}
