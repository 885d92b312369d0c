// What is to be done with the objects of a resource: decided from configuration, caller and query.
// Refuses with 401 and 403 what the caller may not do, and malformed queries with 400.

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../core/clock.ts";
import type { Selection } from "../../core/json/selection.ts";
import type { Semaphore } from "../../core/semaphore.ts";
import { authorizeObjects, type ObjectGrant, requirePermission } from "../authorize/authorize.ts";
import type { FollowDeps } from "../changes/follow.ts";
import type { LiveResource } from "../config/directory.ts";
import {
  type OperationDeps,
  type OperationPlan,
  type PlanDeps,
  type PlanInput,
  type PlannedRequest,
  planOperation,
  type SubjectOf,
} from "../operation/plan.ts";
import type { WriteLock } from "../operation/write-lock.ts";
import { type CollectionRef, collectionOf } from "../store/ports/refs.ts";
import { validateList } from "./list/query.ts";
import { chosenFieldsOf } from "./list/query-parameters.ts";
import { planQuery, type QueryPlan } from "./list/query-plan.ts";
import type { ObjectIds } from "./object-ids.ts";
import type { CollectionPreparer } from "./prepare-collection.ts";
import { planUpsert, type UpsertPlan } from "./unique-values.ts";
import { type ObjectRules, objectRules, storedRules } from "./validate-object.ts";

export interface ObjectsDeps extends OperationDeps<ObjectsPlan>, FollowDeps {
  readonly clock: Clock;
  readonly newId: ObjectIds;
  readonly lock: WriteLock;
  readonly preparer: CollectionPreparer;
  readonly scanSemaphore: Semaphore;
}

export interface ObjectsPlan extends OperationPlan {
  readonly kind: "objects";
  readonly collection: CollectionRef;
  readonly resource: LiveResource;
  readonly rules: ObjectRules;
  readonly grant: ObjectGrant;
  /** The collection's absolute URL. */
  readonly url: string;
  /** How a list is answered; undefined for other requests. */
  readonly list: QueryPlan | undefined;
  /** Which object a PUT of the collection is about; undefined for other requests. */
  readonly upsert: UpsertPlan | undefined;
  /** What a request for one object is shown of it; undefined = everything. */
  readonly fields: Selection | undefined;
}

export function planObjects(deps: PlanDeps, input: PlanInput, { target, resource }: SubjectOf<"objects">): ObjectsPlan {
  const { config } = input.project;
  const plan = planOperation(deps, input, target, resource.config.access.read);
  const grant = authorizeObjects(config, resource.config, plan.operation, input.caller);
  const isUpsert = target.kind === "collection" && plan.operation === "update";
  // Whichever it turns out to be: a caller who may not update must not find out what exists.
  if (isUpsert) requirePermission(config, resource.config.access.create, "create", input.caller);
  const isList = target.kind === "collection" && plan.operation === "read";
  const isOne = target.kind === "object" && plan.operation === "read";
  return {
    kind: "objects",
    ...plan,
    resource,
    grant,
    collection: collectionOf(config, resource),
    rules: objectRules(resource, config),
    url: `${input.base}/api/${target.resource}`,
    list: isList ? planList(input, resource) : undefined,
    upsert: isUpsert ? planUpsert(input.query, resource) : undefined,
    fields: isOne && input.query !== "" ? chosenFieldsOf(input.query, resource.schema) : undefined,
  };
}

function planList({ query, project: { config }, caller }: PlanInput, resource: LiveResource): QueryPlan {
  const list = validateList(query, resource.schema, config);
  // A validation of each candidate is costly, and what it tells is of the manifest.
  if (list.valid !== undefined) requirePermission(config, "Administrators", "read", caller);
  return planQuery(list, resource.config.indexes, storedRules(resource, config));
}

export type ObjectsRequest = PlannedRequest<ObjectsPlan>;

export function hasSameRules(plan: ObjectsPlan, { resource, grant }: ObjectsPlan): boolean {
  return resource === plan.resource && isDeepStrictEqual(grant, plan.grant);
}
