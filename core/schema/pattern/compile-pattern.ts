// Turns a pattern of a schema into a matcher whose time grows with the text's length only; refuses with PatternError.

import { PatternMatcher } from "./matcher.ts";
import { parsePattern } from "./parse-pattern.ts";
import { buildProgram } from "./program.ts";

/** `ignoreCase` applies to the whole pattern. @throws PatternError with the place and what to write instead */
export function compilePattern(source: string, ignoreCase = false): PatternMatcher {
  return new PatternMatcher(buildProgram(parsePattern(source, ignoreCase)));
}
