// What a replica tells the operator of keys of external issuers that it met and does not have: carried as JSON in its acknowledgement, in
// the field `wantedKeys`. The operator then fetches the issuer's keys again, at most once a minute.

export interface WantedKeys {
  /** `<namespace>/<name>`. */
  readonly project: string;
  /** Name of the issuer in the project. */
  readonly issuer: string;
}

/** Milliseconds between two fetches of an issuer that wanted keys cause, and between two wants of a replica: whoever forges tokens chooses their `kid`. */
export const betweenFetchesMs = 60_000;
/** Milliseconds for which a replica lists it: longer than the operator's longest pause between two looks. */
export const wantedForMs = 5_000;
/** How many one acknowledgement lists at most. */
export const maxWanted = 100;
