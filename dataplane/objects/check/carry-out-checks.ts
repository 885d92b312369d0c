// Carries out the operator's orders to check stored objects against a schema, and to migrate them
// to it.

import { digestOf } from "../../../core/config/canonical.ts";
import {
  type CheckOrder,
  type CheckProgress,
  type CheckResult,
  objectChecks,
} from "../../../core/config/object-check.ts";
import { WriteConflict } from "../../../core/errors/store-errors.ts";
import { pauseUnlessAborted, systemTimers } from "../../../core/timers.ts";
import { type CarriedOrders, type CarryOutDeps, carryOutOrders, type StepEnd } from "../../config/carry-out-orders.ts";
import type { Directory, LiveProject, LiveResource } from "../../config/directory.ts";
import type { DataStore } from "../../store/port.ts";
import type { ObjectIndexes } from "../../store/ports/indexes.ts";
import type { ObjectLists } from "../../store/ports/lists.ts";
import type { ObjectReads } from "../../store/ports/objects.ts";
import { collectionOf } from "../../store/ports/refs.ts";
import type { CollectionPreparer } from "../prepare-collection.ts";
import { type ObjectRules, storedRules } from "../validate-object.ts";
import type { CheckedStep } from "./check-step.ts";
import { type MigrateStep, stepsOf } from "./migrate-step.ts";

export interface CarryOutChecksDeps extends CarryOutDeps<CheckOrder, CheckResult> {
  readonly store: Pick<ObjectLists & ObjectReads & ObjectIndexes, "pageAfter" | "read" | "refuseOlderWriters">;
  readonly directory: Pick<Directory, "project" | "dataLost">;
  /** For what is migrated. */
  readonly preparer: Pick<CollectionPreparer, "prepare">;
  readonly storeFor: (project: LiveProject) => DataStore;
  /** Before a final check, 3,000 by default. */
  readonly settleMs?: number;
}

/** Longer than a command to the store may take. */
const usualSettleMs = 3_000;

export function carryOutChecks(deps: CarryOutChecksDeps): CarriedOrders {
  const { store, directory, preparer, storeFor, settleMs = usualSettleMs } = deps;
  return carryOutOrders(deps, {
    kind: objectChecks,
    async begin(order, { signal }) {
      const found = await find(directory, order);
      if (found === undefined) return undefined;
      const { project, resource } = found;
      const collection = collectionOf(project.config, resource);
      // What a replica sent that knows of the schema by now has reached the store then.
      if (order.stage === "final") await pauseUnlessAborted(systemTimers, settleMs, signal);
      if (order.stage !== "look") await store.refuseOlderWriters(collection);
      if (order.migration !== undefined) await preparer.prepare(resource, collection);
      const requireServed = async (): Promise<void> => {
        if ((await served(directory, order))?.resource !== resource)
          throw new WriteConflict("The configuration has changed");
      };
      const writes: MigrateStep["writes"] = {
        async replace(...written) {
          // Nothing is migrated to a schema that isn't wanted any more.
          await requireServed();
          return await storeFor(project).replace(...written);
        },
      };
      const step = stepsOf({ store, writes, collection, rules: rulesOf(order, found) }, order.stage);
      return async (before) => {
        if (order.stage === "final") await requireServed();
        return endOf(await step(before));
      };
    },
  });
}

function rulesOf({ stage }: CheckOrder, { project, resource }: Found): ObjectRules {
  if (stage === "live") return { schema: resource.schema, maxBytes: Number.POSITIVE_INFINITY };
  return storedRules(resource, project.config);
}

function endOf(step: CheckedStep): StepEnd<CheckProgress, CheckResult> {
  if (!step.isDone) return { isDone: false, progress: step.figures };
  return { isDone: true, result: { ...step.figures, endedAt: Date.now() } };
}

interface Found {
  readonly project: LiveProject;
  readonly resource: LiveResource;
}

/** Undefined unless the resource is served here with the schema of the order. */
async function find(directory: CarryOutChecksDeps["directory"], order: CheckOrder): Promise<Found | undefined> {
  const found = await served(directory, order);
  if (found === undefined) return undefined;
  const { schema, nextSchema, nextSchemaBinds, migration } = found.resource.config;
  const [source, patch] = order.stage === "live" ? [schema] : [nextSchema, migration];
  if (source === undefined || digestOf(source) !== order.schema) return undefined;
  if (order.stage === "final" && nextSchemaBinds !== true) return undefined;
  if ((patch && digestOf(patch)) !== order.migration) return undefined;
  return found;
}

async function served(directory: CarryOutChecksDeps["directory"], order: CheckOrder): Promise<Found | undefined> {
  const found = await directory.project(order.project);
  if (found.outcome !== "found" || directory.dataLost()) return undefined;
  const resource = found.value.resources.get(order.resource);
  return resource?.config.uid === order.uid ? { project: found.value, resource } : undefined;
}
