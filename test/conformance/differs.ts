// What a server does in another way than a rule says.

import { isDeepStrictEqual } from "node:util";

export class Differs extends Error {
  override readonly name = "Differs";
}

export function differ(what: string): never {
  throw new Differs(what);
}

/** `what` begins a sentence. */
export function same(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  differ(`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
}
