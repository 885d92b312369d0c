// Random sequences of a store's calls as data: made once, carried out on several stores, each call
// answering with something to compare. Inputs name things by their place among those that exist, so
// that most calls hit and shrinking keeps sense.

import fc from "fast-check";
import { documentSequences } from "./document-calls.ts";
import { objectCalls } from "./object-calls.ts";
import { sharedCalls } from "./session-calls.ts";
import type { Call } from "./store-call.ts";

/** Each sequence stays with one part of the store, since the parts share nothing. */
export const callSequences: fc.Arbitrary<readonly Call[]> = fc.oneof(
  { weight: 4, arbitrary: fc.array(objectCalls, { maxLength: 80, size: "max" }) },
  { weight: 4, arbitrary: documentSequences },
  { weight: 2, arbitrary: fc.array(sharedCalls, { maxLength: 50, size: "max" }) },
);
