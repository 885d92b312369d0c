// Turns the patterns of a schema into matchers whose time grows with the text's length only; refuses with PatternError. Each text is
// compiled once.

import { schemaLimits } from "../limits.ts";
import { PatternMatcher } from "./matcher.ts";
import { PatternError, parsePattern } from "./parse-pattern.ts";
import { buildProgram } from "./program.ts";

/** `ignoreCase` applies to the whole pattern. @throws PatternError with the position and what to write instead */
export function compilePattern(source: string, ignoreCase = false): PatternMatcher {
  return new PatternMatcher(buildProgram(parsePattern(source, ignoreCase)));
}

/** The compiled patterns of one schema. */
export class Patterns {
  readonly #matchers = new Map<string, PatternMatcher>();
  #steps = 0;

  /** @throws PatternError, about too many patterns only once */
  add(source: string): void {
    if (this.#matchers.has(source) || this.#steps > schemaLimits.patternSteps) return;
    this.#steps += this.matcher(source).steps;
    if (this.#steps > schemaLimits.patternSteps) {
      throw new PatternError(
        `All patterns together have more than ${schemaLimits.patternSteps} steps; use minLength and maxLength to bound strings`,
      );
    }
  }

  /** The matcher of a pattern that was added, or of one that this service wrote. */
  matcher(source: string): PatternMatcher {
    const known = this.#matchers.get(source);
    if (known !== undefined) return known;
    const matcher = compilePattern(source);
    this.#matchers.set(source, matcher);
    return matcher;
  }
}
