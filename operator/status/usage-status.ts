// What a Project's status says of what it stores and of its quotas, and the Event when a quota becomes nearly full: once, until it had room
// again.

import { type QuotaUses, quotaKinds } from "../../core/config/quota-uses.ts";
import type { Project } from "../model/objects.ts";
import { isNearlyFull } from "../publish/quota-aggregator.ts";
import type { EventNote } from "../record/event-recorder.ts";
import { statusEventCatalogue } from "./events-of.ts";

/** A change of less than this part of the reported objects is not worth a write. */
const minReportedChange = 0.01;

/** Whether the objects that a Project stores are worth a write. One that never had any reports nothing, so that a new Project costs none. */
export function isWorthReporting(status: object | undefined, count: number): boolean {
  const { storedObjects: reported = 0 } = (status ?? {}) as { readonly storedObjects?: number };
  return count !== reported && Math.abs(count - reported) >= minReportedChange * reported;
}

interface ReportedUse {
  readonly quota: string;
  readonly used: number;
  readonly limit: number;
  readonly nearlyFull: boolean;
}

type FormerStatus = Readonly<Record<string, unknown>>;

export interface KnownUsage {
  readonly storedObjects?: number;
  readonly quotaUsage?: QuotaUses;
}

/** What was reported before stays where nothing is newly known; of quotas, as long as the Project has them. */
export function usageMembers(
  project: Project,
  former: FormerStatus,
  { storedObjects = former["storedObjects"] as number | undefined, quotaUsage }: KnownUsage,
): object {
  return { ...(storedObjects !== undefined && { storedObjects }), ...quotaMembers(project, former, quotaUsage) };
}

function quotaMembers({ spec }: Project, former: FormerStatus, uses: QuotaUses | undefined): object {
  const quota = spec.limits.quota;
  if (quota === undefined) return {};
  const reported = reportedIn(former);
  const usage = quotaKinds.flatMap((kind): readonly ReportedUse[] => {
    if (quota[kind] === undefined) return [];
    const before = reported.find((each) => each.quota === kind);
    const use = uses?.[kind] ?? before;
    if (use === undefined) return [];
    const { used, limit } = use;
    return [{ quota: kind, used, limit, nearlyFull: isNearlyFull(use, before?.nearlyFull ?? false) }];
  });
  return usage.length === 0 ? {} : { usage };
}

/** `before` and `after` are statuses; one without quotas has nothing to report. */
export function quotaEventsOf(before: unknown, after: unknown): readonly EventNote[] {
  const reported = reportedIn(before);
  const { type, action } = statusEventCatalogue.QuotaNearlyFull;
  return reportedIn(after)
    .filter(({ quota, nearlyFull }) => nearlyFull && reported.find((each) => each.quota === quota)?.nearlyFull !== true)
    .map(({ quota, used, limit }) => {
      const note = `${used} of ${limit} are used of the quota ${quota}; a write that exceeds it is refused with 403`;
      return { type, action, reason: "QuotaNearlyFull", note };
    });
}

function reportedIn(status: unknown): readonly ReportedUse[] {
  return (status as { readonly usage?: readonly ReportedUse[] } | undefined)?.usage ?? [];
}
