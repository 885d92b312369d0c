// The indexes that a replica is building, as JSON in its acknowledgement.

export interface BuildingIndexes {
  /** `<namespace>/<name>`. */
  readonly project: string;
  readonly resource: string;
  /** Names, as in spec.indexes. */
  readonly indexes: readonly string[];
}
