// What an ApiResource's status says of its stored objects and the schema: `storedObjects`, and the
// condition StoredObjectsValid, whose change is an Event.

import { describeExample, describeInvalid } from "../../core/config/object-check.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import { resourceNameOf } from "../model/kinds.ts";
import type { ApiResource } from "../model/objects.ts";
import { type ReportedCheck, reportedCheck, stillStands } from "../model/reported-check.ts";
import type { CheckReport } from "../stored-data/object-checks.ts";
import { type Condition, type ConditionNow, dated, formerConditions } from "./conditions.ts";

/** Empty where no check is declared. `now` in Unix milliseconds. */
export function storedObjectsStatus(
  object: ApiResource,
  report: CheckReport | undefined,
  now: number,
): { readonly members: { readonly storedObjects?: ReportedCheck }; readonly conditions: readonly Condition[] } {
  if (object.spec.schemaChange?.storedObjects === undefined) return { members: {}, conditions: [] };
  const { generation = 0 } = object.metadata;
  const reported = reportedOf(object, report, generation);
  const isOfThis = reported !== undefined && (report === undefined || stands(reported, report, generation));
  const about = isOfThis ? reported.observedGeneration : generation;
  const dating = { generation: about, former: formerConditions(object), now };
  const condition = dated("StoredObjectsValid", isOfThis ? conditionOf(object, reported) : unknown, dating);
  return { members: reported === undefined ? {} : { storedObjects: reported }, conditions: [condition] };
}

/**
 * What was reported before stays where nothing newer is known: of another schema with the
 * generation of that one.
 */
function reportedOf(
  { status }: ApiResource,
  report: CheckReport | undefined,
  observedGeneration: number,
): ReportedCheck | undefined {
  const before = reportedCheck(status);
  if (report?.found === undefined) {
    const isOfThis = before !== undefined && report !== undefined && stands(before, report, observedGeneration);
    return isOfThis ? { ...before, observedGeneration } : before;
  }
  const { checked, invalid, migrated, examples, endedAt } = report.found;
  return {
    observedGeneration,
    schema: report.schema,
    checked,
    invalid,
    ...(migrated !== undefined && { migrated }),
    ...(examples.length > 0 && { examples }),
    checkedAt: rfc3339(endedAt),
  };
}

function stands(reported: ReportedCheck, { schema }: CheckReport, generation: number): boolean {
  return stillStands(reported, { schema, generation });
}

const unknown: ConditionNow = {
  status: "Unknown",
  reason: "CheckingStoredObjects",
  message: "The stored objects have not all been checked against this schema",
};

function conditionOf(object: ApiResource, reported: ReportedCheck): ConditionNow {
  if (reported.invalid === 0) {
    const message = "All stored objects met the schema when they were checked";
    return { status: "True", reason: "StoredObjectsValid", message };
  }
  const message = `${describeInvalid(reported)} the schema${describeExample(reported)}; GET /api/${resourceNameOf(object)}?_valid=false lists them`;
  return { status: "False", reason: "StoredObjectsInvalid", message };
}
