// What an ApiResource's status says of its stored objects and the schema, and the Event when some
// are found that don't meet it: once for a schema, until none were.

import { describeExample, describeInvalid } from "../../core/config/object-check.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import type { EventNote } from "../events/event-recorder.ts";
import { resourceNameOf } from "../model/kinds.ts";
import type { ApiResource, CustomResource } from "../model/objects.ts";
import { type ReportedCheck, reportedCheck } from "../model/reported-check.ts";
import type { CheckReport } from "../stored-data/object-checks.ts";
import { statusEventCatalogue } from "./events-of.ts";

/**
 * What was reported before stays where nothing newer is known: of another schema with the
 * generation of that one.
 */
export function storedObjectsMembers({ spec, metadata, status }: ApiResource, report: CheckReport | undefined): object {
  if (spec.schemaChange?.storedObjects === undefined) return {};
  const before = reportedCheck(status);
  const { generation = 0 } = metadata;
  if (report?.found === undefined) {
    const isOfThis = before !== undefined && before.schema === report?.schema;
    const storedObjects = isOfThis ? { ...before, observedGeneration: generation } : before;
    return storedObjects === undefined ? {} : { storedObjects };
  }
  const { checked, invalid, examples, endedAt } = report.found;
  const storedObjects: ReportedCheck = {
    observedGeneration: generation,
    schema: report.schema,
    checked,
    invalid,
    ...(examples.length > 0 && { examples }),
    ...(endedAt !== undefined && { checkedAt: rfc3339(endedAt) }),
  };
  return { storedObjects };
}

/** `after` = the status that was written. */
export function storedObjectsEventsOf(object: CustomResource, after: unknown): readonly EventNote[] {
  if (object.kind !== "ApiResource") return [];
  const now = reportedCheck(after);
  if (now?.checkedAt === undefined || now.invalid === 0 || isRefusedFor(after)) return [];
  const before = reportedCheck(object.status);
  const isKnown = before?.schema === now.schema && before.checkedAt !== undefined && before.invalid > 0;
  if (isKnown) return [];
  const { type, action } = statusEventCatalogue.StoredObjectsInvalid;
  const note = `${describeInvalid(now)} the schema${describeExample(now)}; GET /api/${resourceNameOf(object)}?_valid=false lists them`;
  return [{ type, action, reason: "StoredObjectsInvalid", note }];
}

/** The condition has an Event of its own. */
function isRefusedFor(status: unknown): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly { readonly reason: string }[] };
  return conditions.some(({ reason }) => reason === "StoredObjectsInvalid");
}
