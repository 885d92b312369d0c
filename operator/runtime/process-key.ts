// Works on one key of the queue: runs a reconcile and interprets its failures. What was served then
// waits to be reported in its statuses. While Redis is unavailable, statuses that wait for it say
// so. A failure is thrown again, and its key is retried after its backoff.

import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { withRetention } from "../guard-rails/apply-guard-rails.ts";
import { isConflict, isNotFound } from "../kube/api.ts";
import { NotTheLeader } from "../lead/elector.ts";
import type { CustomResource } from "../model/objects.ts";
import { allObjects, type ProjectObjects } from "../model/project-objects.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import type { Publisher } from "../publish/publisher.ts";
import type { WorkResult } from "../queue/workers.ts";
import type { PassListener, ReconcileDeps, WatchedForPass } from "../reconcile/pass.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import type { ReconcileResult, UnacknowledgedRevision } from "../reconcile/reconcile-result.ts";
import type { Unreported } from "../reconcile/served.ts";
import { SecretChanged } from "../secrets/secret-object.ts";
import { NamespaceTerminating } from "../secrets/secret-store.ts";
import { type WhyUnpublished, whyUnpublished } from "../status/why-unpublished.ts";
import { retainedFrom } from "../stored-data/retained-data.ts";
import type { Ownership } from "./ownership.ts";

export interface ProcessKeyDeps extends ReconcileDeps {
  readonly watched: WatchedProjects;
  readonly ownership: Ownership;
  readonly listener: KeyListener;
  /** By key, what its last run has served and no status says. */
  readonly unreported: Map<string, { readonly unreported: Unreported; readonly session: number }>;
}

/** What the watches know of Projects. */
export interface WatchedProjects extends WatchedForPass {
  objectsOf(ref: ProjectRef): ProjectObjects;
  /**
   * False while something of the namespace was never listed: nothing there may be taken for absent.
   */
  isCurrent(namespace: string): boolean;
  /**
   * Objects of the key that the watch or a list reported as gone; they are the caller's until
   * `giveBack`.
   */
  takeDeleted(key: string): readonly CustomResource[];
  giveBack(key: string, objects: readonly CustomResource[]): void;
}

/** What the rest of the leader is told of a key. */
export interface KeyListener extends PassListener {
  /** How many writer sessions have begun. */
  sessionCount(): number;
  /**
   * The key was worked through. `nothingMissing`: Redis has all that replicas may serve of the key,
   * or what that is can't be known. `writeFailed`: this attempt could not write to Redis.
   */
  processed(
    key: string,
    outcome: { readonly done?: ReconcileResult; readonly nothingMissing: boolean; readonly writeFailed?: true },
  ): void;
  /** The statuses of the key are written. */
  reported(key: string, awaited: UnacknowledgedRevision | undefined): void;
}

const unknownMs = 2_000;

export async function processKey(key: string, deps: ProcessKeyDeps, signal: AbortSignal): Promise<WorkResult> {
  const ref = projectOfKey(key);
  // Whatever comes of this run is newer.
  deps.unreported.delete(key);
  if (!deps.watched.isCurrent(ref.namespace)) return await keepAsPublished(key, deps);
  const deleted = deps.watched.takeDeleted(key);
  try {
    const { publisher } = await ensureSession(deps);
    const session = deps.listener.sessionCount();
    const objects = await deps.ownership.take(deps.watched.objectsOf(ref));
    if (objects === undefined) return await leaveToOther(ref, publisher, deps);
    await publisher.restore(ref);
    const { unreported, ...done } = await reconcile({ objects, deleted }, deps, signal);
    if (unreported !== undefined) deps.unreported.set(key, { unreported, session });
    if (done.unconfirmed === true) deps.watched.giveBack(key, deleted);
    // What was published before Redis was emptied is gone by now.
    const isPublished = done.unconfirmed !== true && deps.listener.sessionCount() === session;
    deps.listener.processed(key, { done, nothingMissing: isPublished || !(await mayLack(ref, deps)) });
    return workResultOf(done, unreported !== undefined);
  } catch (error) {
    deps.watched.giveBack(key, deleted);
    return await handleFailure(key, error, deps);
  }
}

function workResultOf({ requeueAfterMs, unconfirmed }: ReconcileResult, isUnreported: boolean): WorkResult {
  // Thousands of Projects may wait for the definition of one kind.
  if (unconfirmed === true) return { requeue: "backoff" };
  if (requeueAfterMs === undefined && !isUnreported) return undefined;
  return { ...(requeueAfterMs !== undefined && { requeueAfterMs }), ...(isUnreported && { requeue: "report" }) };
}

async function ensureSession({ writer, metrics }: ProcessKeyDeps): Promise<OpenRedis> {
  try {
    return await writer.session();
  } catch (error) {
    if (whyUnpublished(error) !== undefined) metrics.observeConfig({ kind: "publish_failed" });
    throw error;
  }
}

/**
 * Keeps the Project as it was last published. A Project whose objects are not known delays no other
 * one.
 */
async function keepAsPublished(key: string, deps: ProcessKeyDeps): Promise<WorkResult> {
  const ref = projectOfKey(key);
  const isRestored = await tryRestore(ref, deps);
  deps.listener.processed(key, { nothingMissing: isRestored });
  const isEmpty = allObjects(deps.watched.objectsOf(ref)).length === 0;
  // The list that made it current reported only what differed: what an event had told before is
  // served now.
  if (deps.watched.isCurrent(ref.namespace)) return { requeueAfterMs: 0 };
  return isEmpty && isRestored ? undefined : { requeueAfterMs: unknownMs };
}

async function tryRestore(ref: ProjectRef, { writer }: ProcessKeyDeps): Promise<boolean> {
  try {
    await (await writer.session()).publisher.restore(ref);
    return true;
  } catch {
    // It is looked at again in a moment. The maintenance log says what is wrong with Redis.
    return false;
  }
}

/** True when that can't be found out. */
async function mayLack(ref: ProjectRef, { writer }: ProcessKeyDeps): Promise<boolean> {
  try {
    return await (await writer.session()).publisher.lacks(ref);
  } catch {
    // The failure at hand, or the next attempt, says what is wrong with Redis.
    return true;
  }
}

/** Another installation looks after the Project: what was served of it here ends. Its data stay. */
async function leaveToOther(ref: ProjectRef, publisher: Publisher, deps: ProcessKeyDeps): Promise<WorkResult> {
  const { config, data, revision } = await publisher.load(ref);
  if (config !== undefined || revision > 0) {
    await publisher.withdraw(ref, data && retainedFrom(withRetention(data), deps.clock.now()));
    deps.listener.published(ref, undefined);
  }
  if (config !== undefined) {
    const { namespace, name, uid } = config.project;
    deps.audit.write({
      action: "project_withdrawn",
      facts: { kind: "Project", namespace, name, uid, why: "OtherController" },
    });
  }
  deps.listener.revoked(ref);
  // No pass follows: nothing is to be hashed any more, and no hash is kept.
  deps.hasher.passOf(keyOfProject(ref)).end();
  if (deps.issuers.projectsUsing.has(keyOfProject(ref))) deps.issuers.use(keyOfProject(ref), new Map());
  deps.listener.processed(keyOfProject(ref), { nothingMissing: true });
  return undefined;
}

async function handleFailure(key: string, error: unknown, deps: ProcessKeyDeps): Promise<WorkResult> {
  // The session ends; the next leader looks at everything.
  if (error instanceof NotTheLeader) return undefined;
  if (error instanceof NamespaceTerminating) {
    // Nothing can be created there any more; what could be published is. A finalizer may delay the
    // namespace for any time.
    deps.listener.processed(key, { nothingMissing: true });
    return { requeue: "backoff" };
  }
  const ref = projectOfKey(key);
  const why = whyUnpublished(error);
  if (why !== undefined) await writeUnpublishedStatuses(ref, why, deps);
  const nothingMissing = !(await mayLack(ref, deps));
  deps.listener.processed(key, { nothingMissing, ...(why !== undefined && { writeFailed: true }) });
  throw error;
}

async function writeUnpublishedStatuses(ref: ProjectRef, why: WhyUnpublished, deps: ProcessKeyDeps): Promise<void> {
  const objects = deps.ownership.ownOf(deps.watched.objectsOf(ref));
  if (objects === undefined) return;
  if (why.reason === "RedisContested") await deps.statuses.writeContested(objects, why);
  else await deps.statuses.writeUnpublished(objects, { ...why, availability: deps.writer.availabilityOf(ref) });
}

/**
 * The object was changed meanwhile: the watch delivers that in a moment, and the next attempt
 * starts from there.
 */
export function isOvertaken(error: unknown): boolean {
  return error instanceof SecretChanged || isConflict(error) || isNotFound(error);
}
