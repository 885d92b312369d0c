// A PUT of a collection: updates the object that has the values in the query, or creates it. In a
// race, one caller creates it; the store refuses the others, who then find it.

import { isDeepStrictEqual } from "node:util";
import type { UniqueRule } from "../../core/config/types.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { creatorOf } from "../authenticate/caller.ts";
import { requirePreconditions } from "../http/conditional-requests.ts";
import type { HttpResponse } from "../http/exchange.ts";
import { uniqueIndex, uniqueQuery, uniqueValueIn } from "../store/entry-values.ts";
import type { StoredObject } from "../store/ports/objects.ts";
import { indexBuilding } from "./list/refusals.ts";
import type { ObjectsDeps, ObjectsPlan } from "./plan.ts";
import { notUnique, type UpsertPlan } from "./unique-values.ts";
import { createdResponse, createNew, type ObjectWrite, ownerOfStored, repeatedly, replaceStored } from "./write.ts";

export function upsertObject(
  deps: ObjectsDeps,
  writing: ObjectWrite,
  upsert: UpsertPlan,
  body: CanonicalJson,
): Promise<HttpResponse> {
  const { plan, preconditions } = writing;
  const { caller } = plan;
  const index = uniqueIndex(upsert.rule);
  const value = upsert.encodedFor({ creator: creatorOf(caller), creator_type: caller.kind });
  // No id begins so.
  return repeatedly(deps, plan, `?${index.name}=${value}`, async () => {
    const found = await find(deps, plan, upsert.rule, value);
    if (typeof found === "object") {
      const outcome = await replaceStored(writing, body, found);
      // Another one may have the values by now, or none.
      return typeof outcome === "object" ? outcome : undefined;
    }
    requirePreconditions(preconditions, undefined);
    const result = await createNew(deps, writing, body);
    if (result.outcome === "repeated") throw new Error("A create without a record was repeated");
    const isLate = result.outcome === "not_unique" && isDeepStrictEqual(result.rule, upsert.rule);
    return isLate && found === "absent" ? undefined : createdResponse(plan, result);
  });
}

/** `hidden`: the caller may not see the object. No object has no value. */
async function find(
  { preparer }: ObjectsDeps,
  { store, collection, resource, grant }: ObjectsPlan,
  rule: UniqueRule,
  value: string | undefined,
): Promise<StoredObject | "absent" | "hidden"> {
  if (value === undefined) return "absent";
  const query = uniqueQuery(rule, value);
  const found = await store.candidates(collection, {}, [query], 1);
  if (found.outcome === "not_ready") {
    preparer.forget(resource);
    throw indexBuilding(query.index);
  }
  // Objects that had the same values before the rule was declared.
  if (found.outcome !== "found") throw notUnique(rule);
  const [id] = found.ids;
  if (id === undefined) return "absent";
  // Anyone's: one that is gone since must not look like a hidden one.
  const stored = await store.read(collection, id, {});
  if (stored === undefined || uniqueValueIn(rule, stored.text) !== value) return "absent";
  const { owner } = grant.visible;
  return owner === undefined || owner === ownerOfStored(stored) ? stored : "hidden";
}
