// What a replica tells the operator of indexes that it is building: carried as JSON in its acknowledgement.

export interface BuildingIndexes {
  /** `<namespace>/<name>`. */
  readonly project: string;
  readonly resource: string;
  /** Names, as in spec.indexes. */
  readonly indexes: readonly string[];
}
