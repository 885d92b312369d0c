// How much room a quota leaves for a write. Pure.

import { type QuotaKind, quotaKinds } from "../../core/config/quota-uses.ts";
import type { ProjectQuota } from "../../core/config/types.ts";
import { type Amounts, noAmounts, type PartialAmounts, plus } from "./stored-amounts.ts";

export interface Want {
  /** Refused when there is no room for all of it. */
  readonly required?: PartialAmounts;
  /** As much of it as there is room for. */
  readonly upTo?: PartialAmounts;
}

export function limitOf(quota: ProjectQuota, kind: QuotaKind): number {
  return quota[kind] ?? Number.POSITIVE_INFINITY;
}

/** All that a write may add. */
export function maxAmountsOf({ required = {}, upTo = {} }: Want): Amounts {
  return plus(plus(noAmounts, required), upTo);
}

/** A quota without room for all that is wanted beside what is used. */
export function lackingKind(quota: ProjectQuota, wanted: PartialAmounts, used: Amounts): QuotaKind | undefined {
  return quotaKinds.find((kind) => lacks(quota, kind, wanted, used));
}

function lacks(quota: ProjectQuota, kind: QuotaKind, wanted: PartialAmounts, used: Amounts): boolean {
  const amount = wanted[kind] ?? 0;
  return amount > 0 && used[kind] + amount > limitOf(quota, kind);
}

/** What of `upTo` there is room for beside what is used and required. */
export function grantedOf(quota: ProjectQuota, { required = {}, upTo = {} }: Want, used: Amounts): PartialAmounts {
  const taken = plus(used, required);
  const granted: Partial<Record<QuotaKind, number>> = {};
  for (const kind of quotaKinds) {
    const wanted = upTo[kind];
    if (wanted !== undefined) granted[kind] = Math.max(0, Math.min(wanted, limitOf(quota, kind) - taken[kind]));
  }
  return granted;
}

/** Whether a write would have more room without what others reserved, and would not be refused even then. */
export function isCrowded(quota: ProjectQuota, want: Want, stored: Amounts, reserved: Amounts): boolean {
  if (lackingKind(quota, want.required ?? {}, stored) !== undefined) return false;
  const [maxAmounts, used] = [maxAmountsOf(want), plus(stored, reserved)];
  return quotaKinds.some(
    (kind) => reserved[kind] > 0 && stored[kind] < limitOf(quota, kind) && lacks(quota, kind, maxAmounts, used),
  );
}
