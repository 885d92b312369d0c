// Bounds how many bytes of large bodies may wait in memory for their end, over all requests. Refuses a body that would pass it
// with `body_busy`; small ones are always taken.

import { Problem } from "../../core/errors/problem.ts";

export interface BodyBudget {
  /** Counts bytes that arrived, `length` being all of their body so far. Throws Problem `body_busy`; they count until `released`. */
  take(bytes: number, length: number): void;
  release(bytes: number): void;
}

const smallLength = 64 * 1024;
export const mostArriving = 128 * 1024 * 1024;

export function createBodyBudget(limit = mostArriving): BodyBudget {
  let held = 0;
  return {
    take(bytes, length) {
      held += bytes;
      if (held <= limit || length <= smallLength) return;
      throw new Problem("body_busy", "Too many large bodies arrive at once; try again", {
        headers: { "Retry-After": "2" },
      });
    },
    release(bytes) {
      held -= bytes;
    },
  };
}
