// Parses a text that may be anything: undefined when it is not JSON. The parser's error is dropped, because its message quotes the
// text, which may be secret.

import { parseJson } from "./parse-json.ts";

export function parseOrUndefined(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
