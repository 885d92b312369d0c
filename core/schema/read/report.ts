// Collects what is wrong with a schema, and what is worth a warning, up to a bound.

import type { SchemaProblem } from "../compile-schema.ts";
import { schemaLimits } from "../limits.ts";

export class SchemaReport {
  readonly problems: SchemaProblem[] = [];
  readonly warnings: SchemaProblem[] = [];

  problem(pointer: string, message: string): void {
    if (this.problems.length < schemaLimits.reports) this.problems.push({ pointer, message });
  }

  warn(pointer: string, message: string): void {
    if (this.warnings.length < schemaLimits.reports) this.warnings.push({ pointer, message });
  }
}
