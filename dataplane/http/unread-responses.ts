// Counts what clients have not read of their responses, in the memory share of the project. Refuses
// a large response that has no room with `query_busy` before it is written. Closes the connection
// of any other response that has no room and is not sent at once.

import type { ServerResponse } from "node:http";
import { Problem } from "../../core/errors/problem.ts";
import type { MemoryBudget } from "../admission/memory-budgets.ts";

export interface UnreadResponses {
  /** Throws Problem `query_busy`. */
  requireRoom(owner: object, text: string): void;
  /** Counts bytes that the kernel did not take, until it has or the response ends. */
  wait(owner: object, response: ServerResponse, bytes: number): void;
}

export const largeBytes = 64 * 1024;
/** In UTF-8, for one character of a string. */
export const maxBytesPerCharacter = 3;

export function createUnreadResponses(budget: MemoryBudget, observeClosed: () => void): UnreadResponses {
  return {
    requireRoom(owner, text) {
      const bytes = Buffer.byteLength(text);
      if (bytes < largeBytes) return;
      const share = budget.of(owner);
      if (!share.take(bytes)) throw tooManyResponses();
      share.release(bytes);
    },
    wait(owner, response, bytes) {
      const share = budget.of(owner);
      if (!share.take(bytes)) {
        observeClosed();
        response.destroy();
        return;
      }
      let isCounted = true;
      const release = (): void => {
        if (isCounted) share.release(bytes);
        isCounted = false;
      };
      response.once("close", release).once("drain", release);
    },
  };
}

function tooManyResponses(): Problem {
  return new Problem("query_busy", "Too many large responses are waiting for their clients to read them; try again", {
    headers: { "Retry-After": "2" },
  });
}
