// How much of its quotas a project uses: counted by a replica, sent to the operator as JSON, and
// shown in the Project's status.

import type { ProjectQuota } from "./types.ts";

export const quotaKinds = ["objects", "bytes", "documentKeys"] as const satisfies readonly (keyof ProjectQuota)[];
export type QuotaKind = (typeof quotaKinds)[number];

export interface QuotaUse {
  readonly used: number;
  readonly limit: number;
}

/** Only quotas that the project has. */
export type QuotaUses = Readonly<Partial<Record<QuotaKind, QuotaUse>>>;
