// Bounds how much of large answers may wait in memory for clients to read it, over all connections. Refuses further large
// reads with `query_busy`; small answers, and those of writes that took place, always go out.

import { Problem } from "../../core/errors/problem.ts";
import type { Answer } from "./answer.ts";

export interface AnswerBudget<Request extends object> {
  /** Counts a large answer until `ended`, and returns it. Throws Problem `query_busy`. */
  admit(request: Request, method: string, answer: Answer): Answer;
  /** The request's answer was handed over, or its client left. */
  ended(request: Request): void;
}

/** Characters. */
const largeLength = 64 * 1024;
export const mostWaiting = 256 * 1024 * 1024;

export function createAnswerBudget<Request extends object>(limit = mostWaiting): AnswerBudget<Request> {
  const lengths = new WeakMap<Request, number>();
  let waiting = 0;
  return {
    admit(request, method, answer) {
      const length = answer.text?.length ?? 0;
      if (length < largeLength) return answer;
      const changedNothing = method === "GET" || method === "HEAD";
      if (changedNothing && waiting + length > limit) throw busy();
      lengths.set(request, length);
      waiting += length;
      return answer;
    },
    ended(request) {
      waiting -= lengths.get(request) ?? 0;
      lengths.delete(request);
    },
  };
}

function busy(): Problem {
  return new Problem("query_busy", "Too many large answers wait for their clients to read them; try again", {
    headers: { "Retry-After": "2" },
  });
}
