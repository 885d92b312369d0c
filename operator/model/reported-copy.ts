// What the status of a Project says of the data that were copied into it.

import type { CopyResult, NotCopied } from "../../core/config/copy-order.ts";

export interface ReportedCopy {
  readonly copied: number;
  readonly refused: number;
  readonly examples?: readonly NotCopied[];
  readonly completedAt?: string;
}

interface StatusOfCopy {
  readonly dataSource?: ReportedCopy;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

export function reportedCopy(status: unknown): ReportedCopy | undefined {
  return (status as StatusOfCopy | undefined)?.dataSource;
}

/** Undefined before everything was copied. */
export function resultIn(reported: ReportedCopy | undefined): CopyResult | undefined {
  if (reported?.completedAt === undefined) return undefined;
  const { copied, refused, examples = [], completedAt } = reported;
  return { copied, refused, examples, endedAt: Date.parse(completedAt) };
}

export function isPopulated(status: unknown): boolean {
  const { conditions = [] } = (status ?? {}) as StatusOfCopy;
  return conditions.some((condition) => condition.type === "Populated" && condition.status === "True");
}
