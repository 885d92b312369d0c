// Bounds how much of large answers may wait in memory for clients to read it, over all connections. One project has half of it at
// most. Refuses further large reads with `query_busy`; small answers, and those of writes that took place, always go out.

import { Problem } from "../../core/errors/problem.ts";

/** What is sent, as far as it matters here. */
interface Lengthy {
  readonly text?: string;
}

export interface AnswerBudget<Request extends object> {
  /** Counts a large answer until `ended`, and returns it. Throws Problem `query_busy`. */
  admit<Answer extends Lengthy>(request: Request, method: string, answer: Answer): Answer;
  /** The request's answer was handed over, or its client left. */
  ended(request: Request): void;
}

interface Counted {
  readonly project: object;
  readonly length: number;
}

/** Characters. */
const largeLength = 64 * 1024;
export const maxWaitingLength = 96 * 1024 * 1024;

export function createAnswerBudget<Request extends object>(
  projectOf: (request: Request) => object | undefined,
  limit = maxWaitingLength,
): AnswerBudget<Request> {
  const counted = new WeakMap<Request, Counted>();
  const ofProject = new WeakMap<object, number>();
  let waiting = 0;
  const count = ({ project, length }: Counted, sign: 1 | -1): void => {
    waiting += sign * length;
    ofProject.set(project, (ofProject.get(project) ?? 0) + sign * length);
  };
  return {
    admit(request, method, answer) {
      const length = answer.text?.length ?? 0;
      if (length < largeLength) return answer;
      const changedNothing = method === "GET" || method === "HEAD";
      const project = projectOf(request) ?? request;
      const own = ofProject.get(project) ?? 0;
      if (changedNothing && (waiting + length > limit || own + length > limit / 2)) throw busy();
      counted.set(request, { project, length });
      count({ project, length }, 1);
      return answer;
    },
    ended(request) {
      const entry = counted.get(request);
      if (entry !== undefined) count(entry, -1);
      counted.delete(request);
    },
  };
}

function busy(): Problem {
  return new Problem("query_busy", "Too many large answers wait for their clients to read them; try again", {
    headers: { "Retry-After": "2" },
  });
}
