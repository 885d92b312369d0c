// How far schemas have come that are live only once no stored object breaks them, before it is
// decided what to serve. The order of the check says so; one of another generation says nothing:
// between two edits, writes may have been free to break the schema. A schema that was refused is
// looked at again now and then.

import type { CheckResult } from "../../core/config/object-check.ts";
import type { CompiledProject, JsonObject } from "../../core/config/types.ts";
import { type HeldSchema, type HeldSchemas, heldAfter, holdsSchema } from "../compile/held-schema.ts";
import { resourceNameOf } from "../model/kinds.ts";
import type { ApiResource } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { CheckOrders, CheckState } from "../publish/replica-orders.ts";
import type { KnownCheck, KnownChecks } from "./known-orders.ts";

export type FindHeldSchemas = (
  objects: Pick<ProjectObjects, "resources">,
  published: CompiledProject | undefined,
  orders: CheckOrders,
) => Promise<HeldSchemas>;

export interface HeldSchemasDeps {
  readonly known: KnownChecks;
  readonly digestOf: (schema: JsonObject) => string;
  readonly now: () => number;
}

/** After it, a schema that was refused is looked at again. */
const againMs = 600_000;

export function createHeldSchemas({ known, digestOf, now }: HeldSchemasDeps): FindHeldSchemas {
  const heldOf = async ({ spec, metadata }: ApiResource, orders: CheckOrders): Promise<HeldSchema> => {
    const check = await known.of(metadata.uid, orders);
    const isOfThis = check?.schema === digestOf(spec.schema) && check.generation === metadata.generation;
    if (check === undefined || !isOfThis) return { stage: "look" };
    const state = await known.stateOf(check, orders);
    const before = refusalIn(check, state);
    if (before !== undefined && isDueAgain(check, state, now())) {
      const { id: _id, key: _key, ...same } = check;
      await known.order({ ...same, stage: "look", before }, orders);
    }
    return heldBy(check, state);
  };
  return async ({ resources }, published, orders) => {
    const held = new Map<string, HeldSchema>();
    for (const resource of resources) {
      const config = published?.resources.get(resourceNameOf(resource));
      const isHeld = config?.uid === resource.metadata.uid && holdsSchema(resource, config);
      if (isHeld) held.set(resource.metadata.uid, await heldOf(resource, orders));
    }
    return held;
  };
}

function heldBy({ stage, before }: KnownCheck, state: CheckState): HeldSchema {
  const found = state.state === "done" ? state.result : before;
  if (stage === "live") return { stage: "look" };
  return found === undefined ? { stage } : heldAfter(stage, found);
}

export function refusalIn({ stage }: Pick<KnownCheck, "stage">, state: CheckState): CheckResult | undefined {
  return stage !== "live" && state.state === "done" && state.result.invalid > 0 ? state.result : undefined;
}

export function isDueAgain(check: Pick<KnownCheck, "stage">, state: CheckState, now: number): boolean {
  const refusal = refusalIn(check, state);
  return refusal !== undefined && now - refusal.endedAt >= againMs;
}
