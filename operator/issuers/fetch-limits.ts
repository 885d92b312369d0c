// What fetching from external issuers is limited by, chosen by the program that fetches: an operator in a cluster, or dev mode. No setting changes it,
// so that nobody lets Projects reach the operator's own machine by a mistake. A program of the tests runs the operator with others, because
// the issuers of tests are on this machine.

import { betweenFetchesMs } from "../../core/config/wanted-keys.ts";
import { type AddressRules, clusterAddresses, devAddresses } from "./address-rules.ts";

export interface FetchLimits {
  readonly addresses: AddressRules;
  /** Milliseconds from the beginning of a fetch in which a wanted key causes no other. */
  readonly refetchAfterMs: number;
}

export const clusterLimits: FetchLimits = Object.freeze({
  addresses: clusterAddresses,
  refetchAfterMs: betweenFetchesMs,
});

/** A provider on a developer's machine has new keys whenever it starts, and the only one who sends tokens is the developer. */
export const devLimits: FetchLimits = Object.freeze({ addresses: devAddresses, refetchAfterMs: 5_000 });
