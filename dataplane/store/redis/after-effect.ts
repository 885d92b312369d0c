// A call of several steps that has done something can no longer fail with "nothing happened": turns StoreUnavailable of its
// later steps into OutcomeUnknown.

import { OutcomeUnknown, StoreUnavailable } from "../../../core/errors/store-errors.ts";

/** Awaits a step that follows one which took effect. */
export async function afterEffect<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    throw new OutcomeUnknown("A part was done before Redis went away", { cause });
  }
}
