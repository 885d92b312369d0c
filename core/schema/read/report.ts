// Collects what is wrong with a schema, and what is worth a warning, up to a bound.

import { schemaLimits } from "../limits.ts";

export interface SchemaProblem {
  /** RFC 6901 pointer into the schema. */
  readonly pointer: string;
  /** Says what is wrong and what to write instead. */
  readonly message: string;
}

export class SchemaReport {
  readonly problems: SchemaProblem[] = [];
  readonly warnings: SchemaProblem[] = [];
  /** Why no object, or none of a nested schema, can match. */
  readonly contradictions: SchemaProblem[] = [];

  problem(pointer: string, message: string): void {
    if (this.problems.length < schemaLimits.reports) this.problems.push({ pointer, message });
  }

  contradiction(pointer: string, describe: () => string): void {
    if (this.contradictions.length < schemaLimits.reports) this.contradictions.push({ pointer, message: describe() });
  }

  /** `describe` runs only while there is room: it costs more than reading a keyword. */
  warn(pointer: string, describe: () => string): void {
    if (this.warnings.length < schemaLimits.reports) this.warnings.push({ pointer, message: describe() });
  }
}
