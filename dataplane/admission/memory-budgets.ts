// Bounds what may be in memory, over all requests: bytes of large bodies, those that arrive and those whose write waits or is under way,
// and bytes of large responses that wait for clients to read them. One project has half of each at most. Refuses a body that would
// pass it with `body_busy`, a large read with `query_busy`; small ones, and responses to writes that took place, always go through.

import { Problem } from "../../core/errors/problem.ts";

export interface BodyBudgets {
  of(project: object): BodyBudget;
}

export interface BodyBudget {
  /** Counts bytes that arrived, `length` being all of their body so far. Throws Problem `body_busy`; they count until released. */
  take(bytes: number, length: number): void;
  release(bytes: number): void;
}

const smallLength = 64 * 1024;
export const maxHeldBytes = 48 * 1024 * 1024;

export function createBodyBudgets(limit = maxHeldBytes): BodyBudgets {
  const budgets = new WeakMap<object, BodyBudget>();
  let heldByAll = 0;
  const budget = (): BodyBudget => {
    let held = 0;
    return {
      take(bytes, length) {
        held += bytes;
        heldByAll += bytes;
        if ((held <= limit / 2 && heldByAll <= limit) || length <= smallLength) return;
        throw new Problem("body_busy", "Too many large bodies at once; try again", {
          headers: { "Retry-After": "2" },
        });
      },
      release(bytes) {
        held -= bytes;
        heldByAll -= bytes;
      },
    };
  };
  return {
    of(project) {
      const known = budgets.get(project);
      if (known !== undefined) return known;
      const made = budget();
      budgets.set(project, made);
      return made;
    },
  };
}

/** What is sent, as far as it matters here. */
interface Lengthy {
  readonly text?: string;
}

export interface ResponseBudget<Request extends object> {
  /** Counts a large response until `ended`, and returns it. Throws Problem `query_busy`. */
  admit<Response extends Lengthy>(request: Request, method: string, response: Response): Response;
  /** The response was handed over, or its client left. */
  ended(request: Request): void;
}

interface Counted {
  readonly project: object;
  readonly bytes: number;
}

const largeBytes = 64 * 1024;
export const maxWaitingBytes = 96 * 1024 * 1024;
/** Of UTF-8, for one character of a string. */
const maxBytesPerCharacter = 3;

export function createResponseBudget<Request extends object>(
  projectOf: (request: Request) => object | undefined,
  limit = maxWaitingBytes,
): ResponseBudget<Request> {
  const counted = new WeakMap<Request, Counted>();
  const ofProject = new WeakMap<object, number>();
  let waiting = 0;
  const count = ({ project, bytes }: Counted, sign: 1 | -1): void => {
    waiting += sign * bytes;
    ofProject.set(project, (ofProject.get(project) ?? 0) + sign * bytes);
  };
  return {
    admit(request, method, response) {
      const { text = "" } = response;
      if (text.length * maxBytesPerCharacter < largeBytes) return response;
      const bytes = Buffer.byteLength(text);
      if (bytes < largeBytes) return response;
      const changedNothing = method === "GET" || method === "HEAD";
      const project = projectOf(request) ?? request;
      const own = ofProject.get(project) ?? 0;
      if (changedNothing && (waiting + bytes > limit || own + bytes > limit / 2)) throw tooManyResponses();
      counted.set(request, { project, bytes });
      count({ project, bytes }, 1);
      return response;
    },
    ended(request) {
      const entry = counted.get(request);
      if (entry === undefined) return;
      count(entry, -1);
      counted.delete(request);
    },
  };
}

function tooManyResponses(): Problem {
  return new Problem("query_busy", "Too many large responses are waiting for their clients to read them; try again", {
    headers: { "Retry-After": "2" },
  });
}
