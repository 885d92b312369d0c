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
