// What a Project's status says of what it stores and of its quotas, and the Event when a quota
// becomes nearly full: once, until it had room again. New limits and nearly
// full quotas are reported at once, and usage figures when the Project's turn comes.

import { type QuotaKind, type QuotaUse, quotaKinds } from "../../core/config/quota-uses.ts";
import type { EventNote } from "../events/event-recorder.ts";
import type { Project } from "../model/objects.ts";
import { isNearlyFull } from "../publish/quota-aggregator.ts";
import { statusEventCatalogue } from "./events-of.ts";
import type { KnownUsage, ReportedUsage } from "./outcomes.ts";

/** A change of less than this part of the reported number is not worth a write. */
const minReportedChange = 0.01;

function hasMoved(reported: number, now: number | undefined): now is number {
  return now !== undefined && now !== reported && Math.abs(now - reported) >= minReportedChange * reported;
}

interface ReportedUse {
  readonly quota: QuotaKind;
  readonly used: number;
  readonly limit: number;
  readonly nearlyFull: boolean;
}

type FormerStatus = Readonly<Record<string, unknown>>;

/**
 * Whether what a Project stores is worth a write in its turn. One that never had any objects
 * reports none, so that a new Project costs no write.
 */
export function isWorthReporting(status: object | undefined, { storedObjects, quotaUsage }: KnownUsage): boolean {
  if (hasMoved(reportedObjectsIn(status) ?? 0, storedObjects)) return true;
  return reportedIn(status).some(({ quota, used }) => hasMoved(used, quotaUsage?.[quota]?.used));
}

/**
 * What was reported before stays where nothing is to be reported anew; of quotas, as long as the
 * Project has them.
 */
export function usageMembers(project: Project, former: FormerStatus, usage: ReportedUsage | undefined): object {
  const before = reportedObjectsIn(former);
  const isNews = usage?.isDue === true && hasMoved(before ?? 0, usage.storedObjects);
  const storedObjectCount = isNews ? usage.storedObjects : before;
  return { ...(storedObjectCount !== undefined && { storedObjectCount }), ...quotaMembers(project, former, usage) };
}

function quotaMembers({ spec }: Project, former: FormerStatus, usage: ReportedUsage | undefined): object {
  const quota = spec.limits.quota;
  if (quota === undefined) return {};
  const reported = reportedIn(former);
  const uses = quotaKinds.flatMap((kind): readonly ReportedUse[] => {
    if (quota[kind] === undefined) return [];
    const before = reported.find((each) => each.quota === kind);
    const now = usage?.quotaUsage?.[kind];
    if (now === undefined) return before === undefined ? [] : [before];
    return [reportedUse(kind, now, before, usage?.isDue === true)];
  });
  return uses.length === 0 ? {} : { usage: uses };
}

function reportedUse(quota: QuotaKind, use: QuotaUse, before: ReportedUse | undefined, isDue: boolean): ReportedUse {
  const nearlyFull = isNearlyFull(use, before?.nearlyFull ?? false);
  const canWait = before !== undefined && before.limit === use.limit && before.nearlyFull === nearlyFull;
  if (canWait && !(isDue && hasMoved(before.used, use.used))) return before;
  return { quota, used: use.used, limit: use.limit, nearlyFull };
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

function reportedObjectsIn(status: object | undefined): number | undefined {
  return (status as { readonly storedObjectCount?: number } | undefined)?.storedObjectCount;
}

function reportedIn(status: unknown): readonly ReportedUse[] {
  return (status as { readonly usage?: readonly ReportedUse[] } | undefined)?.usage ?? [];
}
