// One Project and everything that names it, from the objects as they are to what is served, and to
// what its statuses are to say. Every step can be repeated: the next run repairs what failed, or
// what a crash left behind.

import { randomBytes } from "node:crypto";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { compileProject } from "../compile/compile-project.ts";
import type { HeldSchemas } from "../compile/held-schema.ts";
import { noHosts } from "../compile/hosts.ts";
import { issuerSourcesOf } from "../compile/issuers.ts";
import type { DeletionOutcome } from "../deletion/advance-deletions.ts";
import { withRetention } from "../guard-rails/apply-guard-rails.ts";
import { isForbidden } from "../kube/api.ts";
import { NotTheLeader } from "../lead/elector.ts";
import type { IssuerSource } from "../model/issuers.ts";
import { allObjects, isDeleting, type ProjectObjects, type Seen, versionsOf } from "../model/project-objects.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import { auditOf } from "../resolve/credential-event.ts";
import { asPublished, resolveProject } from "../resolve/project.ts";
import { writeSecrets } from "../resolve/write-secrets.ts";
import { dataEventsOf } from "../status/data-events.ts";
import type { CompileOutcome, ProjectOutcome, ResolvedProject, Rollout } from "../status/outcomes.ts";
import { orderedPurges } from "../stored-data/advance-purges.ts";
import { type DataEvaluation, evaluateData, openPurges, withUnserved } from "../stored-data/data-plan.ts";
import { planRetainedData } from "../stored-data/retained-data.ts";
import type { Pass, ReconcileDeps, StartedPass } from "./pass.ts";
import { publishStep, revokeDeleted, revokeGone } from "./publish.ts";
import { type ReconcileResult, resultOf, unreportedResult } from "./reconcile-result.ts";
import type { Served, Unreported } from "./served.ts";

/** Most changes are live within this time: then the status is written once, and says so. */
const acknowledgedWithinMs = 400;

export async function reconcile(seen: Seen, deps: ReconcileDeps, signal: AbortSignal): Promise<ReconcileResult> {
  const started = await start(seen, deps);
  beginFetching(started);
  const { isConfirmed, gone, failure } = await deps.absences.confirm(started, signal);
  // An object that is missing from the cache may still exist. Until that is known, nothing else is
  // published or withdrawn.
  if (!isConfirmed) {
    const result = await onlyRevoke({ ...started, deleted: gone });
    if (failure !== undefined) throw failure.error;
    return result;
  }
  const pass: Pass = { ...started, namespaceUid: await namespaceUidOf(started) };
  const stored = await evaluateStoredData(pass);
  const resolved = await resolveOrKeep(pass);
  const heldSchemas = await deps.checks.heldSchemas(seen.objects, pass.published.config, pass.redis.checkOrders);
  const compiled = compileStep(pass, stored, resolved, heldSchemas);
  const publishResult = await publishStep(pass, compiled);
  if (resolved.failure !== undefined) throw resolved.failure.error;
  const served: Served = { objects: seen.objects, redis: pass.redis, resolved, compiled, publishResult };
  if (canWait(pass, served)) return await unreportedOf(pass, served);
  const rollout = await awaitReplicas({ ...served, ref: seen.objects.ref }, signal);
  const deletion = await advance(pass, served);
  emitDataEvents(pass, served, deletion);
  return await writeStatuses({ ...served, rollout, deletion }, deps);
}

/**
 * Statuses can wait while other Projects are to be served, unless something is being deleted: what
 * has to happen to that in order is one run, in which statuses come last.
 */
function canWait({ objects, deleted, namespaceUid }: Pass, { compiled, publishResult: { data } }: Served): boolean {
  const isPurging = openPurges(data).size > 0 || (data?.deletedProjects ?? []).length > 0;
  const isGoing = deleted.length > 0 || namespaceUid === undefined || isPurging || compiled.requests.length > 0;
  if (isGoing) return false;
  return !allObjects(objects).some(isDeleting);
}

async function unreportedOf(pass: Pass, served: Served): Promise<ReconcileResult> {
  // What keeps an object until its data are gone has to stand before anybody deletes it.
  const deletion = await advance(pass, served);
  emitDataEvents(pass, served, deletion);
  const { statuses, isComplete, signingRingWaits, nextAt, hasLaterWrites } = served.resolved;
  const reported = { statuses, isComplete, signingRingWaits, ...(hasLaterWrites && { hasLaterWrites }) };
  const resolved = { ...reported, ...(nextAt !== undefined && { nextAt }) };
  const { data: _data, evaluatedAt: _at, ...compiled } = served.compiled;
  const { objects, redis, publishResult } = served;
  const versions = versionsOf(objects);
  const unreported = { ref: objects.ref, versions, redis, resolved, compiled, publishResult, deletion };
  return unreportedResult(unreported, pass.deps.clock.now());
}

/** The keys of external issuers are fetched while all that follows goes on. */
function beginFetching({ objects: { ref, project }, deps: { issuers } }: StartedPass): void {
  const key = keyOfProject(ref);
  const isThere = project !== undefined && !isDeleting(project);
  const sources = isThere ? issuerSourcesOf(project, issuers.isAllowed) : new Map<string, IssuerSource>();
  if (sources.size > 0 || issuers.projectsUsing.has(key)) issuers.use(key, sources);
}

async function start(seen: Seen, deps: ReconcileDeps): Promise<StartedPass> {
  const { ref } = seen.objects;
  const redis = await deps.writer.session();
  const published = await redis.publisher.load(ref);
  const isKept = published.data !== undefined && seen.objects.retainsData === true;
  return {
    ...seen,
    deps,
    redis,
    published: isKept ? { ...published, data: withRetention(published.data) } : published,
  };
}

async function onlyRevoke(started: StartedPass): Promise<ReconcileResult> {
  await revokeDeleted(started);
  return { unconfirmed: true };
}

/**
 * A namespace that is being deleted may take the right to ask for it along: what is left to
 * withdraw needs no answer.
 */
async function namespaceUidOf({ objects, published, deps }: StartedPass): Promise<string | undefined> {
  try {
    return await deps.namespaces.of(objects, published);
  } catch (error) {
    if (objects.project === undefined && isForbidden(error)) return undefined;
    throw error;
  }
}

/** Which stored data are to be deleted, and whose may not be served. */
async function evaluateStoredData(pass: Pass): Promise<DataEvaluation> {
  const { objects, deleted, published, namespaceUid, redis, deps } = pass;
  return evaluateData({
    objects,
    deleted,
    adopt: deps.settings.adopt,
    ordered: await orderedPurges(published.data, redis.purges),
    ...(published.data !== undefined && { publishedInventory: published.data }),
    ...(published.config !== undefined && { publishedConfig: published.config }),
    ...(namespaceUid !== undefined && { namespaceUid }),
  });
}

/**
 * While Secrets can't be read or written, for whatever reason, credentials stay as they are
 * published, and no status is written. What objects lose waits for no Secret: deleted keys, lowered
 * access, resources that are switched off.
 */
async function resolveOrKeep(pass: Pass): Promise<ResolvedProject> {
  try {
    return await resolveStep(pass);
  } catch (error) {
    if (error instanceof NotTheLeader) throw error;
    const { objects, published } = pass;
    // What is published of a former Project tells nothing of this one.
    if (isUnpublished(pass)) {
      await revokeGone(pass);
      throw error;
    }
    return {
      ...asPublished(objects.ref.name, published.config),
      isComplete: false,
      failure: { error },
    };
  }
}

function isUnpublished({ objects: { project }, published: { config } }: Pass): boolean {
  return project !== undefined && !isDeleting(project) && project.metadata.uid !== config?.project.uid;
}

async function advance(pass: Pass, { publishResult }: Served): Promise<DeletionOutcome> {
  const { objects, deleted, namespaceUid, redis, deps } = pass;
  const isNamespaceGone = namespaceUid === undefined;
  return await deps.deletions.advance({ objects, isNamespaceGone, deleted, inventory: publishResult.data }, redis);
}

function emitDataEvents(
  { objects, deleted, deps }: Pass,
  { compiled, publishResult }: Served,
  { purged }: DeletionOutcome,
): void {
  const { adopted } = compiled.data;
  const events = dataEventsOf({ objects, deleted, inventory: publishResult.data, purged, adopted });
  for (const { subject, note } of events) deps.recorder.emit(subject, note);
}

export type ReportDeps = Pick<
  ReconcileDeps,
  "statuses" | "clock" | "settings" | "usageDue" | "watched" | "checks" | "copies"
>;

/** Waits a moment for replicas to acknowledge what was published. */
export async function awaitReplicas(
  {
    ref,
    redis: { acknowledgements },
    publishResult: { revision },
  }: Pick<Unreported, "ref" | "redis" | "publishResult">,
  signal: AbortSignal,
): Promise<Rollout> {
  const state = await acknowledgements.awaitRollout(revision, acknowledgedWithinMs, signal);
  const availability = acknowledgements.availabilityOf(ref, revision);
  signal.throwIfAborted();
  return { state, availability };
}

export async function writeStatuses(
  { redis, ...served }: Omit<Unreported, "ref" | "versions"> & Pick<ProjectOutcome, "objects" | "rollout">,
  deps: ReportDeps,
): Promise<ReconcileResult> {
  const { objects, compiled, rollout } = served;
  const { config, heldSchemas } = compiled;
  const project = { objects, config, heldSchemas, rollout: rollout.state };
  const checks = await deps.checks.reportsOf(project, redis.checkOrders);
  const copy = await deps.copies.reportOf(objects.project, redis);
  const outcome = outcomeOf(served, { checks, copy }, redis, deps);
  await deps.statuses.write(outcome, () => deps.watched.isChanged(outcome.objects.ref));
  // Tried again, after all else is done.
  const [refusal] = served.deletion.finalizerRefusals;
  if (refusal !== undefined) throw refusal;
  return resultOf(outcome, deps.clock.now());
}

type Steps = Omit<ProjectOutcome, "reports" | "dataLoss" | "baseUrl">;

/** What the steps found, with what replicas report by now. */
function outcomeOf(
  steps: Steps,
  found: Pick<ProjectOutcome["reports"], "checks" | "copy">,
  { acknowledgements, publisher }: OpenRedis,
  { settings, usageDue }: ReportDeps,
): ProjectOutcome {
  const { ref } = steps.objects;
  const key = keyOfProject(ref);
  const reports = {
    refusals: acknowledgements.refusalsOf(ref),
    building: acknowledgements.buildingOf(ref),
    usage: {
      storedObjects: usageDue.get(key),
      quotaUsage: acknowledgements.quotaUsages().get(key),
      isDue: usageDue.has(key),
    },
    ...found,
  };
  return { ...steps, reports, dataLoss: publisher.dataLoss(), baseUrl: settings.baseUrlOf(ref) };
}

/**
 * Compiles: objects, credentials and what is known of stored data become the configuration to
 * serve, a verdict per object, and what to record of the data. Nothing is written.
 */
function compileStep(
  pass: Pass,
  evaluation: DataEvaluation,
  resolved: ResolvedProject,
  heldSchemas: HeldSchemas,
): CompileOutcome {
  const { objects, published, namespaceUid, deps } = pass;
  const now = deps.clock.now();
  const requests = deps.deletionRequests.requestsOf(objects.ref);
  const { config, verdicts } = compileProject({
    ...objects,
    signing: resolved.signing,
    credentials: resolved.credentials,
    hosts: objects.project === undefined ? noHosts : deps.hosts.grantOf(objects.project),
    issuers: deps.issuers,
    foreignData: evaluation.foreignData,
    openPurges: evaluation.openPurges,
    checkResource: deps.checkResource,
    heldSchemas,
    ...(published.config !== undefined && { published: published.config }),
  });
  const data = planRetainedData(evaluation, {
    objects,
    config: namespaceUid === undefined ? undefined : config,
    namespaceUid,
    requests,
    now,
  });
  return {
    config: config && withUnserved(config, data.inventory),
    verdicts,
    heldSchemas,
    data,
    requests,
    evaluatedAt: now,
  };
}

/**
 * What objects lose is published after the Secrets of a pass are written: more would keep it
 * waiting.
 */
const maxWritten = 32;

/**
 * Resolves credentials: Secrets are read, minted and repaired, and written before anything that
 * depends on them is published. Rejects where the API server does not answer, or a Secret was
 * changed meanwhile.
 */
async function resolveStep(pass: Pass): Promise<ResolvedProject> {
  const { published, redis, deps } = pass;
  const { config, revision } = published;
  const objects = objectsWithSecrets(pass);
  const { find, ...trust } = await deps.secrets.prepare(objects);
  const hashes = deps.hasher.passOf(keyOfProject(objects.ref));
  const resolved = await resolveProject(objects, config, {
    findSecret: find,
    random: randomBytes,
    now: deps.clock.now(),
    hashPassword: hashes.hashPassword,
    baseUrl: deps.settings.baseUrlOf(objects.ref),
    ...trust,
    ringAcknowledged: redis.acknowledgements.rolloutOf(revision) === "programmed",
    maxWritten,
  });
  hashes.end();
  const written = await writeSecrets(resolved, {
    write: deps.secrets.write,
    report(event) {
      deps.recorder.emit(event.subject, event.note);
      const entry = auditOf(event);
      if (entry !== undefined) deps.audit.write(entry);
    },
  });
  const isComplete = written.refused.length === 0;
  return { ...written.resolved, isComplete };
}

/**
 * A Project whose deletion waits may outlive its namespace: no Secret can be made there any more,
 * and it is withdrawn like one that has gone.
 */
function objectsWithSecrets({ objects, namespaceUid }: Pass): ProjectObjects {
  const { project: _, ...others } = objects;
  return namespaceUid === undefined ? others : objects;
}
