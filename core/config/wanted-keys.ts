// Keys of external issuers that a replica met and does not have, as JSON in the field `wantedKeys`
// of its acknowledgement. The operator then fetches the issuer's keys again, at most once a minute.

export interface WantedKeys {
  /** `<namespace>/<name>`. */
  readonly project: string;
  /** Name of the issuer in the project. */
  readonly issuer: string;
}

/**
 * Milliseconds between two fetches of an issuer for wanted keys, and between two wants of a
 * replica: whoever forges tokens chooses their `kid`.
 */
export const betweenFetchesMs = 60_000;
/** Milliseconds for which a want is listed: longer than the operator's reading interval. */
export const wantedForMs = 5_000;
/** How many one acknowledgement lists at most. */
export const maxWanted = 100;
