// What the status of an ApiResource says of a check of its stored objects.

import type { InvalidObject } from "../../core/config/object-check.ts";

export interface ReportedCheck {
  readonly observedGeneration: number;
  readonly schema: string;
  readonly checked: number;
  readonly invalid: number;
  readonly migrated?: number;
  readonly examples?: readonly InvalidObject[];
  readonly checkedAt: string;
}

export function reportedCheck(status: unknown): ReportedCheck | undefined {
  return (status as { readonly storedObjects?: ReportedCheck } | undefined)?.storedObjects;
}

/**
 * Whether it is still true of a schema. Where generations are missing in between, another schema
 * may have been live, or objects migrated to it.
 */
export function stillStands(
  { schema, observedGeneration }: ReportedCheck,
  of: { readonly schema: string; readonly generation: number },
): boolean {
  return schema === of.schema && observedGeneration >= of.generation - 1;
}
