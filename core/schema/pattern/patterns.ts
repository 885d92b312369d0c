// Keeps the compiled patterns of one schema, each text once; reports those that can't be matched in linear time.

import { schemaLimits } from "../limits.ts";
import type { SchemaReport } from "../read/report.ts";
import { compilePattern } from "./compile-pattern.ts";
import type { PatternMatcher } from "./matcher.ts";
import { PatternError } from "./parse-pattern.ts";

export class Patterns {
  readonly #report: SchemaReport;
  readonly #matchers = new Map<string, PatternMatcher>();
  #steps = 0;

  constructor(report: SchemaReport) {
    this.#report = report;
  }

  /** Compiles a pattern; one that can't be is reported at `pointer`. */
  add(source: string, pointer: string): void {
    if (this.#matchers.has(source) || this.#steps > schemaLimits.patternSteps) return;
    try {
      const matcher = compilePattern(source);
      this.#matchers.set(source, matcher);
      this.#steps += matcher.steps;
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.#report.problem(pointer, error.message);
    }
    if (this.#steps > schemaLimits.patternSteps) {
      this.#report.problem(
        pointer,
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
