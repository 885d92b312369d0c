// The conditions that an object gets in a case: accepted and served everywhere, but for what the
// case says. The object is a Project where the case says something that is known of Projects alone.

import type { Verdict } from "../../../operator/model/verdict.ts";
import { type Condition, conditionsOf, type FormerCondition } from "../../../operator/status/conditions.ts";
import type { ObjectOutcome } from "../../../operator/status/outcomes.ts";

export interface ConditionCase extends Partial<ObjectOutcome> {
  readonly generation?: number;
  readonly deleting?: boolean;
  readonly former?: readonly FormerCondition[];
}

const subject = { kind: "ApiResource", namespace: "default", name: "books", uid: "u-1" } as const;
const verdict: Verdict = { ...subject, accepted: true, notices: [] };
const ref = { namespace: "default", name: "shop" };
const objects = { ref, resources: [], rootKeys: [], users: [], keys: [] };

export function conditionsIn(given: ConditionCase): readonly Condition[] {
  const { generation = 1, deleting = false, former = [], ...found } = given;
  const isProject = found.availability !== undefined || found.dataLoss !== undefined;
  const object = {
    kind: isProject ? "Project" : "ApiResource",
    metadata: { generation, ...(deleting && { deletionTimestamp: "2026-11-21T12:00:00Z" }) },
    status: { conditions: former },
  };
  const now = Date.parse("2026-11-21T12:00:00Z");
  const served = { verdict, progress: { state: "programmed" }, availability: "served" } as const;
  return conditionsOf(object, { ...served, objects, baseUrl: "", now, ...found });
}
