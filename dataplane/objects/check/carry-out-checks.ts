// Carries out the operator's orders to check stored objects against a schema.

import {
  type CheckOrder,
  type CheckProgress,
  type CheckResult,
  objectChecks,
  schemaDigest,
} from "../../../core/config/object-check.ts";
import type { CompiledSchema } from "../../../core/schema/compile-schema.ts";
import { pauseUnlessAborted, systemTimers } from "../../../core/timers.ts";
import { type CarriedOrders, type CarryOutDeps, carryOutOrders, type StepEnd } from "../../config/carry-out-orders.ts";
import type { Directory } from "../../config/directory.ts";
import type { ObjectIndexes } from "../../store/ports/indexes.ts";
import type { ObjectLists } from "../../store/ports/lists.ts";
import { type CollectionRef, collectionOf } from "../../store/ports/refs.ts";
import { type CheckedStep, checkStep, nothingChecked } from "./check-step.ts";

export interface CarryOutChecksDeps extends CarryOutDeps<CheckOrder, CheckResult> {
  readonly store: Pick<ObjectLists & ObjectIndexes, "pageAfter" | "fenceWriters">;
  readonly directory: Pick<Directory, "project" | "dataLost">;
  /** Before a final check, 3,000 by default. */
  readonly settleMs?: number;
}

/** Longer than a command to the store may take. */
const usualSettleMs = 3_000;

export function carryOutChecks(deps: CarryOutChecksDeps): CarriedOrders {
  const { store, directory, settleMs = usualSettleMs } = deps;
  return carryOutOrders(deps, {
    kind: objectChecks,
    async begin(order, signal) {
      const found = await find(directory, order);
      if (found === undefined) return undefined;
      if (order.stage === "final") {
        // What a replica sent that knows of the schema by now has reached the store then.
        await pauseUnlessAborted(systemTimers, settleMs, signal);
        await store.fenceWriters(found.collection);
      }
      return async (before) => endOf(await checkStep({ store, ...found }, before ?? nothingChecked));
    },
  });
}

function endOf(step: CheckedStep): StepEnd<CheckProgress, CheckResult> {
  if (!step.isDone) return { isDone: false, progress: step.figures };
  return { isDone: true, result: { ...step.figures, endedAt: Date.now() } };
}

/** Undefined unless the resource is served here with the schema of the order. */
async function find(
  directory: CarryOutChecksDeps["directory"],
  order: CheckOrder,
): Promise<{ readonly schema: CompiledSchema; readonly collection: CollectionRef } | undefined> {
  const found = await directory.project(order.project);
  if (found.outcome !== "found" || directory.dataLost()) return undefined;
  const resource = found.value.resources.get(order.resource);
  if (resource === undefined || resource.config.uid !== order.uid) return undefined;
  const { config } = resource;
  const [source, schema] =
    order.stage === "live" ? [config.schema, resource.schema] : [config.nextSchema, resource.nextSchema];
  if (source === undefined || schema === undefined || schemaDigest(source) !== order.schema) return undefined;
  if (order.stage === "final" && config.nextSchemaBinds !== true) return undefined;
  return { schema, collection: collectionOf(order.project, resource) };
}
