// Advances the deletions of one project by a step: orders and follows purges, sets and removes
// finalizers, and sweeps the Secrets of deleted objects.

import { mapLimited } from "../../core/map-limited.ts";
import { isRefusedWrite, type KubeApi, type KubeObject } from "../kube/api.ts";
import type { DataEntry, DataInventory } from "../model/data-inventory.ts";
import type { CustomResource, DeletionPolicy } from "../model/objects.ts";
import { allObjects, effectiveDeletionPolicy, isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import type { AuditLog } from "../observe/audit-log.ts";
import type { OperatorMetrics } from "../observe/metrics.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import type { SecretSweep } from "../secrets/secret-sweep.ts";
import { advancePurges, type DeletionWait, type PurgeOutcome, type PurgeWait } from "../stored-data/advance-purges.ts";
import { purgeEntry } from "../stored-data/data-audit.ts";
import { isEmpty } from "../stored-data/data-plan.ts";
import { applyFinalizer, finalizer, hasFinalizer, isAsWanted, wantsFinalizer } from "./finalizers.ts";

/** Finalizers of one Project that are set or removed side by side. */
const writesAtATime = 8;

export interface DeletionsDeps {
  readonly api: KubeApi;
  readonly mode: "cluster" | "namespaced";
  readonly sweep: SecretSweep;
  /** Applies the object that an own write returned to the cache. */
  readonly applyOwnWrite: (object: CustomResource, answer: KubeObject) => void;
  readonly metrics: Pick<OperatorMetrics, "observeConfig">;
  readonly audit: AuditLog;
}

export interface Deletions {
  advance(state: DeletionState, redis: OpenRedis): Promise<DeletionOutcome>;
}

export function createDeletions(deps: DeletionsDeps): Deletions {
  return { advance: (state, redis) => advanceDeletions(state, redis, deps) };
}

export interface DeletionOutcome {
  /** Data that were purged just now: what waited for that can go on. */
  readonly purged: readonly DataEntry[];
  /** What each object waits for, by UID. */
  readonly waiting: ReadonlyMap<string, DeletionWait>;
  /** What the data of the Project as a whole wait for. */
  readonly waitingFor?: PurgeWait;
  /** A replica is purging sessions of a Project that had this name. */
  readonly purgesSessions: boolean;
  /** UIDs of objects that are no more. */
  readonly gone: ReadonlySet<string>;
  /**
   * For objects that are being deleted, by UID: finalizers that this operator doesn't remove,
   * whatever they are called.
   */
  readonly heldBy: ReadonlyMap<string, readonly string[]>;
  /**
   * What the API server said where it refused to set a finalizer or to drop one; the others are as
   * they are to be.
   */
  readonly finalizerRefusals: readonly unknown[];
}

export interface DeletionState {
  readonly objects: ProjectObjects;
  /**
   * The namespace was deleted with its Secrets, or can't be read. The sweep of orphans finds what
   * is left there.
   */
  readonly isNamespaceGone: boolean;
  readonly deleted: readonly CustomResource[];
  readonly inventory: DataInventory | undefined;
}

async function advanceDeletions(
  { objects, isNamespaceGone, deleted, inventory }: DeletionState,
  redis: OpenRedis,
  deps: DeletionsDeps,
): Promise<DeletionOutcome> {
  const outcome = await purge({ objects, inventory, audit: deps.audit }, redis);
  if (outcome !== undefined && outcome.purged.length > 0)
    deps.metrics.observeConfig({ kind: "purged", count: outcome.purged.length });
  const finalizers = await reconcileFinalizers(objects, outcome?.inventory, deps);
  const subjects = isNamespaceGone ? [] : deleted;
  for (const object of subjects) {
    const { length } = await deps.sweep.sweepSubject(object);
    deps.metrics.observeConfig({ kind: "secrets_swept", count: length });
  }
  return {
    purged: outcome?.purged ?? [],
    waiting: new Map<string, DeletionWait>([...waitingForRights(objects, deps), ...(outcome?.waiting ?? [])]),
    ...finalizers,
    heldBy: finalizersOfOthers(objects),
    ...(outcome?.waitingFor !== undefined && { waitingFor: outcome.waitingFor }),
    purgesSessions: outcome?.purgesSessions ?? false,
  };
}

interface Purging {
  readonly objects: ProjectObjects;
  readonly inventory: DataInventory | undefined;
  readonly audit: AuditLog;
}

/**
 * The order is forgotten first: were the inventory written before it, a crash between them would
 * leave an order behind.
 */
async function purge(
  { objects: { ref, project }, inventory, audit }: Purging,
  { publisher, purges, acknowledgements }: OpenRedis,
): Promise<PurgeOutcome | undefined> {
  if (inventory === undefined) return undefined;
  const outcome = await advancePurges({
    ref,
    inventory,
    rolloutOf: acknowledgements.rolloutOf,
    purges,
    observe: (action, followed) => audit.write(purgeEntry(action, followed)),
  });
  if (outcome.inventory === inventory) return outcome;
  const nothingLeft = isEmpty(outcome.inventory) && project === undefined;
  await publisher.writeData(ref, nothingLeft ? undefined : outcome.inventory);
  return outcome;
}

/**
 * Objects whose finalizer an operator of the whole cluster has set, before this one replaced it: it
 * has no right to remove them.
 */
function waitingForRights(objects: ProjectObjects, { mode }: DeletionsDeps): readonly [string, DeletionWait][] {
  if (mode === "cluster") return [];
  const blocked = allObjects(objects).filter((object) => isDeleting(object) && hasFinalizer(object));
  return blocked.map(({ metadata }) => [metadata.uid, "rights"]);
}

function finalizersOfOthers(objects: ProjectObjects): ReadonlyMap<string, readonly string[]> {
  const held = new Map<string, readonly string[]>();
  for (const object of allObjects(objects).filter(isDeleting)) {
    const others = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    if (others.length > 0) held.set(object.metadata.uid, others);
  }
  return held;
}

type FinalizerResults = Pick<DeletionOutcome, "gone" | "finalizerRefusals">;
const nothingReconciled: FinalizerResults = {
  gone: new Set(),
  finalizerRefusals: [],
};

/** `inventory`: after what was purged just now. */
async function reconcileFinalizers(
  objects: ProjectObjects,
  inventory: DataInventory | undefined,
  deps: DeletionsDeps,
): Promise<FinalizerResults> {
  // There the operator has no right to touch the objects themselves, only their status.
  if (deps.mode === "namespaced") return nothingReconciled;
  const gone = new Set<string>();
  const finalizerRefusals: unknown[] = [];
  await mapLimited(allObjects(objects), writesAtATime, async (object) => {
    const { uid } = object.metadata;
    const result = await reconcileFinalizer(object, { objects, inventory }, deps).catch(asRefused);
    if (result.outcome === "refused") finalizerRefusals.push(result.error);
    if (result.outcome === "gone") gone.add(uid);
  });
  return { gone, finalizerRefusals };
}

/** Such as by a policy about this object alone. */
function asRefused(error: unknown): FinalizerResult {
  if (!isRefusedWrite(error)) throw error;
  return { outcome: "refused", error };
}

type FinalizerResult = { readonly outcome: "done" | "gone" } | { readonly outcome: "refused"; readonly error: unknown };

async function reconcileFinalizer(
  object: CustomResource,
  { objects, inventory }: { readonly objects: ProjectObjects; readonly inventory: DataInventory | undefined },
  { api, mode, applyOwnWrite }: DeletionsDeps,
): Promise<FinalizerResult> {
  const wanted = wantsFinalizer({ object, effectivePolicy: policyOf(object, objects), mode, inventory });
  if (isAsWanted(object, wanted)) return { outcome: "done" };
  const result = await applyFinalizer(api, object, wanted);
  if (result.outcome === "changed") applyOwnWrite(object, result.object);
  return { outcome: result.outcome === "gone" ? "gone" : "done" };
}

function policyOf(object: CustomResource, { project }: ProjectObjects): DeletionPolicy {
  return object.kind === "Project" ? effectiveDeletionPolicy(object) : effectiveDeletionPolicy(project, object);
}
