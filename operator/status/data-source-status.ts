// What a Project's status says of the data that are copied into it, and the Events when that has
// ended.

import { describeCopied } from "../../core/config/copy-order.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import type { EventNote } from "../events/event-recorder.ts";
import type { CustomResource, Project } from "../model/objects.ts";
import { type ReportedCopy, reportedCopy } from "../model/reported-copy.ts";
import type { CopyReport } from "../stored-data/data-copies.ts";
import { statusEventCatalogue } from "./events-of.ts";

/** What was reported before stays where nothing newer is known. */
export function dataSourceMembers({ spec, status }: Project, report: CopyReport | undefined): object {
  if (spec.dataSourceRef === undefined) return {};
  const before = reportedCopy(status);
  if (report?.figures === undefined) return before === undefined ? {} : { dataSource: before };
  const { copied, refused, examples, endedAt } = report.figures;
  const dataSource: ReportedCopy = {
    copied,
    refused,
    ...(examples.length > 0 && { examples }),
    ...(endedAt !== undefined && { completedAt: rfc3339(endedAt) }),
  };
  return { dataSource };
}

/** `after` = the status that was written. */
export function dataSourceEventsOf(object: CustomResource, after: unknown): readonly EventNote[] {
  const now = reportedCopy(after);
  if (object.kind !== "Project" || now?.completedAt === undefined) return [];
  if (reportedCopy(object.status)?.completedAt !== undefined) return [];
  const { DataCopied, DataNotCopied } = statusEventCatalogue;
  const reason = now.refused === 0 ? "DataCopied" : "DataNotCopied";
  const { type, action } = now.refused === 0 ? DataCopied : DataNotCopied;
  return [{ type, action, reason, note: describeCopied(object.spec.dataSourceRef?.name, now) }];
}
