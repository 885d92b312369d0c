// What became of the lines of an import.

import type { ErrorCode } from "../../core/errors/catalogue.ts";
import type { Problem } from "../../core/errors/problem.ts";
import type { Written } from "./write-object.ts";

export interface RefusedLine {
  /** From 1, in the body. */
  readonly line: number;
  readonly code: ErrorCode;
  readonly detail: string;
}

export interface ImportCounts extends Readonly<Record<Written | "refused", number>> {
  readonly dryRun: boolean;
  /** The first ones, in the order of lines. */
  readonly errors: readonly RefusedLine[];
}

const maxErrors = 100;
/** What is sent may be repeated in it. */
const maxDetailCharacters = 1_000;

export class ImportSummary {
  readonly #counts: Record<Written | "refused", number> = {
    created: 0,
    replaced: 0,
    deleted: 0,
    unchanged: 0,
    expired: 0,
    refused: 0,
  };
  readonly #errors: RefusedLine[] = [];

  count(written: Written): void {
    this.#counts[written] += 1;
  }

  refuse = (line: number, { code, message }: Problem): void => {
    this.#counts.refused += 1;
    if (this.#errors.length < maxErrors) this.#errors.push({ line, code, detail: shortened(message) });
  };

  counts(dryRun: boolean): ImportCounts {
    return { dryRun, ...this.#counts, errors: this.#errors.toSorted((one, other) => one.line - other.line) };
  }
}

/** A copy, as a part of a string keeps the whole one in memory. */
function shortened(text: string): string {
  if (text.length <= maxDetailCharacters) return text;
  return Buffer.from(`${text.slice(0, maxDetailCharacters)}…`).toString();
}
