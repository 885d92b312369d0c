// One Project and everything that names it, from the objects as they are to what is served and what the statuses say. This is the
// order: deletions confirmed, data judged, Secrets resolved and written, all compiled and published in one step, acknowledgements
// awaited for a moment, deletions advanced, and statuses written. Every step can be repeated: the next run repairs what failed.

import type { Clock } from "../../core/clock.ts";
import type { ProjectParts, ProjectRef } from "../../core/config/types.ts";
import { OutcomeUnknown } from "../../core/errors/store-errors.ts";
import type { Kind } from "../../core/manifests/object.ts";
import { compileProject } from "../compile/compile-project.ts";
import { type HostGrant, noHosts } from "../compile/hosts.ts";
import type { CheckSchema } from "../compile/schema-check.ts";
import { type AdvanceDeletionsDeps, advanceDeletions, type DeletionProgress } from "../finalize/advance-deletions.ts";
import { forgetUnrecorded, orderedPurges } from "../finalize/advance-purges.ts";
import type { ConfirmedDeletions } from "../finalize/confirmed-deletions.ts";
import { acceptedLossActs, recordedActs } from "../finalize/data-acts.ts";
import { type DataJudgement, judgeData, planData, withUnserved } from "../finalize/data-plan.ts";
import type { DeletionInbox } from "../finalize/deletion-inbox.ts";
import type { DeletionRequest } from "../finalize/deletion-requests.ts";
import { settleKept } from "../finalize/kept-data.ts";
import type { KeptSizes } from "../finalize/kept-sizes.ts";
import type { NamespaceUids } from "../finalize/namespace-uids.ts";
import { revokeDeleted } from "../finalize/revoke-deleted.ts";
import { withdrawnBy } from "../finalize/withdrawn.ts";
import { isForbidden } from "../kube/api.ts";
import type { DataRecord } from "../model/data-record.ts";
import type { Installation } from "../model/installation.ts";
import type { CustomResource, Project } from "../model/objects.ts";
import type { ProjectObjects, Seen } from "../model/project-objects.ts";
import type { PublishedProject } from "../model/published-project.ts";
import type { Verdict } from "../model/verdict.ts";
import type { AuditEntry } from "../observe/audit-log.ts";
import type { Reach } from "../publish/acknowledgements.ts";
import type { Availability } from "../publish/availability.ts";
import type { ConfigWriter, OpenConfig } from "../publish/config-writer.ts";
import type { Published } from "../publish/publisher.ts";
import type { EventRecorder } from "../record/event-recorder.ts";
import { auditOf } from "../resolve/credential-event.ts";
import type { Random } from "../resolve/mint.ts";
import { followProject } from "../resolve/recall-project.ts";
import { type ProjectResolution, resolveProject } from "../resolve/resolve-project.ts";
import { writeSecrets } from "../resolve/write-secrets.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import { dataEventsOf } from "../status/data-events.ts";
import type { StatusWriter } from "../status/status-writer.ts";

export interface ReconcileDeps extends AdvanceDeletionsDeps {
  readonly writer: ConfigWriter;
  readonly confirmedDeletions: ConfirmedDeletions;
  /** Kinds whose objects went with a former CustomResourceDefinition. */
  readonly isReplaced: (kind: Kind) => boolean;
  readonly namespaces: NamespaceUids;
  readonly deletions: DeletionInbox;
  readonly keptSizes: KeptSizes;
  readonly secrets: SecretStore;
  readonly grantOf: (project: Project) => HostGrant;
  /** Told which hosts the project is published with now; undefined = it is withdrawn. */
  readonly onPublished: (ref: ProjectRef, parts: ProjectParts | undefined) => void;
  readonly observePublish: (observation: PublishObservation) => void;
  readonly statuses: StatusWriter;
  readonly recorder: EventRecorder;
  readonly checkSchema: CheckSchema;
  readonly hashPassword: (password: string) => Promise<string>;
  readonly isPasswordOf: (hash: string, password: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly random: Random;
  readonly baseUrlOf: (ref: ProjectRef) => string;
}

export type PublishObservation =
  | { readonly kind: "published"; readonly seconds: number; readonly fields: number }
  | { readonly kind: "publish_failed" };

export interface Reconciled {
  /** Milliseconds after which to look again although nothing has changed. */
  readonly againAfterMs?: number;
  /** The revision that replicas have not all acknowledged yet. */
  readonly awaited?: UnacknowledgedRevision;
  /** Something was missing that may only be unseen: nothing was done. */
  readonly unconfirmed?: true;
}

/** A revision that some live replica has not acknowledged, or that nobody is there to acknowledge. */
export interface UnacknowledgedRevision {
  readonly revision: number;
  /** Some live replica has acknowledged it already, as the status says. */
  readonly isServed: boolean;
}

/** Most changes are live within this time: then the status is written once, and says so. */
const acknowledgedWithinMs = 400;
const unconfirmedAgainMs = 5_000;
const purgeAgainMs = 500;
const refusedAgainMs = 30_000;
const ringAgainMs = 500;
/** Whether the other installation is still there. */
const rivalAgainMs = 60_000;

export async function reconcile(
  { objects, deleted }: Seen,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<Reconciled> {
  const { ref } = objects;
  const config = await deps.writer.begun();
  const before = await config.publisher.load(ref);
  const deletedUids = new Set(deleted.map(({ metadata }) => metadata.uid));
  if (!(await deps.confirmedDeletions.areConfirmed(objects, before, deletedUids))) {
    await revokeDeleted({ objects, deleted }, before, config.publisher, deps.audit);
    return { againAfterMs: unconfirmedAgainMs, unconfirmed: true };
  }

  const namespaceUid = await namespaceOf(objects, before, deps);
  const judgement = await judged({ objects, deleted, before, namespaceUid }, config, deps);
  const resolved = await resolve(objects, before, { config, deps });
  const asked = deps.deletions.of(objects, { isLeft: resolved.rival !== undefined });
  const compiling = { objects, before, judgement, resolved, namespaceUid, asked };
  const { parts, verdicts, data } = compile(compiling, deps);
  const published = await publish({ objects, deleted, before, parts, verdicts, data, namespaceUid }, config, deps);
  deps.deletions.took(asked);
  deps.onPublished(ref, parts);

  const { acknowledgements } = config;
  const reach = await acknowledgements.reached(published.revision, acknowledgedWithinMs, signal);
  const availability = acknowledgements.availabilityOf(ref, published.revision);
  signal.throwIfAborted();
  const isNamespaceGone = namespaceUid === undefined;
  const { rival } = resolved;
  const progress = await advanceDeletions(
    { objects, isNamespaceGone, deleted, rival, record: published.data },
    config,
    deps,
  );
  const { purged } = progress;
  const events = dataEventsOf({ objects, deleted, record: published.data, purged, adopted: data.adopted });
  for (const { subject, note } of events) deps.recorder.record(subject, note);
  const rewriteAfterMs = await writeStatuses(
    { objects, verdicts, resolved, parts, reach, availability, progress },
    config,
    deps,
  );
  return next({ resolved, reach, availability, progress, revision: published.revision, rewriteAfterMs, asked }, deps);
}

/** A namespace that goes may take the right to ask for it along: what is left to withdraw needs no answer. */
async function namespaceOf(
  objects: ProjectObjects,
  before: PublishedProject,
  { namespaces }: ReconcileDeps,
): Promise<string | undefined> {
  try {
    return await namespaces.of(objects, before);
  } catch (error) {
    if (objects.project === undefined && isForbidden(error)) return undefined;
    throw error;
  }
}

interface Judging {
  readonly objects: ProjectObjects;
  readonly deleted: readonly CustomResource[];
  readonly before: PublishedProject;
  readonly namespaceUid: string | undefined;
}

async function judged(
  { objects, deleted, before, namespaceUid }: Judging,
  { purges }: OpenConfig,
  { adopt, isReplaced }: ReconcileDeps,
): Promise<DataJudgement> {
  await forgetUnrecorded(objects.ref, before.data, purges);
  return judgeData({
    objects,
    deleted,
    adopt,
    isReplaced,
    ordered: await orderedPurges(before.data, purges),
    ...(before.data !== undefined && { previous: before.data }),
    ...(before.parts !== undefined && { previousParts: before.parts }),
    ...(namespaceUid !== undefined && { namespaceUid }),
  });
}

/** `isComplete` is false when the API server refused a Secret: another attempt may find it in a better mood. */
type WrittenResolution = ProjectResolution & {
  readonly isComplete: boolean;
  /** The other installation that looks after the Project; undefined = this one does. */
  readonly rival: Installation | undefined;
};

interface ResolveTools {
  readonly config: OpenConfig;
  readonly deps: ReconcileDeps;
}

/** Secrets are written before anything that depends on them is published, and told of once they are. */
async function resolve(
  objects: ProjectObjects,
  { parts, revision }: PublishedProject,
  { config, deps }: ResolveTools,
): Promise<WrittenResolution> {
  const { find, rival } = await deps.secrets.prepare(objects);
  const resolved = await resolveProject(objects, parts, {
    findSecret: find,
    random: deps.random,
    now: deps.clock.now(),
    hashPassword: deps.hashPassword,
    isPasswordOf: deps.isPasswordOf,
    baseUrl: deps.baseUrlOf(objects.ref),
    ringAcknowledged: config.acknowledgements.reachOf(revision) === "programmed",
    ...(rival !== undefined && { rival }),
  });
  const written = await writeSecrets(resolved, {
    write: deps.secrets.write,
    report(event) {
      deps.recorder.record(event.subject, event.note);
      const act = auditOf(event);
      if (act !== undefined) deps.audit.record(act);
    },
  });
  if (rival === undefined) await deps.secrets.claim(objects);
  const { project } = objects;
  // What is served here goes on; nothing begins.
  const follows = rival !== undefined && project?.spec.suspend !== true && parts?.project.uid === project?.metadata.uid;
  const held = follows ? followProject(written.resolved, objects, find) : written.resolved;
  return { ...held, isComplete: written.refused.length === 0, rival };
}

interface Compiling {
  readonly objects: ProjectObjects;
  readonly before: PublishedProject;
  readonly judgement: DataJudgement;
  readonly resolved: ProjectResolution;
  readonly namespaceUid: string | undefined;
  readonly asked: readonly DeletionRequest[];
}

interface Compiled {
  readonly parts: ProjectParts | undefined;
  readonly verdicts: readonly Verdict[];
  readonly data: DataJudgement;
}

function compile(compiling: Compiling, deps: ReconcileDeps): Compiled {
  const { objects, before, judgement, resolved, namespaceUid, asked } = compiling;
  const { parts, verdicts } = compileProject({
    ...objects,
    signing: resolved.signing,
    credentials: resolved.credentials,
    hosts: objects.project === undefined ? noHosts : deps.grantOf(objects.project),
    foreignData: judgement.foreignData,
    openPurges: judgement.openPurges,
    checkSchema: deps.checkSchema,
    ...(before.parts !== undefined && { previous: before.parts }),
  });
  const data = settleKept(judgement, {
    objects,
    previous: before.data,
    parts: namespaceUid === undefined ? undefined : parts,
    namespaceUid,
    requests: asked,
    sizes: deps.keptSizes.of(objects.ref),
    now: deps.clock.now(),
  });
  return { parts: parts && withUnserved(parts, data.record), verdicts, data };
}

interface Publishing {
  readonly objects: ProjectObjects;
  readonly deleted: readonly CustomResource[];
  readonly before: PublishedProject;
  readonly parts: ProjectParts | undefined;
  readonly verdicts: readonly Verdict[];
  readonly data: DataJudgement;
  readonly namespaceUid: string | undefined;
}

async function publish(
  publishing: Publishing,
  { publisher }: OpenConfig,
  { clock, observePublish, audit }: ReconcileDeps,
): Promise<Published> {
  const { objects, parts, data, namespaceUid } = publishing;
  // Without its namespace a project is on its way out.
  const served = namespaceUid === undefined ? undefined : parts;
  const record = planData(data, {
    objects,
    ...(served !== undefined && { parts: served }),
    ...(namespaceUid !== undefined && { namespaceUid }),
  });
  const since = clock.now();
  const loss = publisher.dataLoss();
  try {
    const published =
      served === undefined ? await publisher.withdraw(objects.ref, record) : await publisher.publish(served, record);
    const { changed } = published;
    if (changed > 0) observePublish({ kind: "published", seconds: (clock.now() - since) / 1000, fields: changed });
    for (const entry of publishedActs(publishing, { served, record: published.data, loss })) audit.record(entry);
    return published;
  } catch (error) {
    // It may have taken place: then the next attempt finds nothing left to tell of.
    if (error instanceof OutcomeUnknown) {
      for (const { act, facts } of publishedActs(publishing, { served, record, loss })) {
        audit.record({ act, facts: { ...facts, outcome: "unknown" } });
      }
    }
    observePublish({ kind: "publish_failed" });
    throw error;
  }
}

interface PublishedAs {
  readonly served: ProjectParts | undefined;
  readonly record: DataRecord | undefined;
  /** Name of the loss of stored data that is not accepted for all. */
  readonly loss: string | undefined;
}

function publishedActs(
  { objects, deleted, before, verdicts, namespaceUid }: Publishing,
  { served, record, loss }: PublishedAs,
): readonly AuditEntry[] {
  const isNamespaceGone = namespaceUid === undefined;
  const withdrawn = withdrawnBy({ objects, deleted, before: before.parts, served, verdicts, isNamespaceGone });
  return [
    ...withdrawn,
    ...recordedActs({ ref: objects.ref, before: before.data, after: record }),
    ...acceptedLossActs(before.parts, served, loss),
  ];
}

interface StatusInput {
  readonly objects: ProjectObjects;
  readonly verdicts: readonly Verdict[];
  readonly resolved: WrittenResolution;
  readonly parts: ProjectParts | undefined;
  readonly reach: Reach;
  readonly availability: Availability;
  readonly progress: DeletionProgress;
}

async function writeStatuses(
  input: StatusInput,
  { acknowledgements, publisher }: OpenConfig,
  deps: ReconcileDeps,
): Promise<number> {
  const { objects, verdicts, resolved, parts, reach, availability, progress } = input;
  const dataLoss = publisher.dataLoss();
  return await deps.statuses.write({
    objects,
    ...(dataLoss !== undefined && { dataLoss }),
    verdicts,
    facts: resolved.statuses,
    reach,
    availability,
    refusals: acknowledgements.refusalsOf(objects.ref),
    building: acknowledgements.buildingOf(objects.ref),
    uses: acknowledgements.usesOf(objects.ref),
    dataWaits: progress.waiting,
    baseUrl: deps.baseUrlOf(objects.ref),
    gone: progress.gone,
    held: progress.held,
    ...(resolved.rival !== undefined && { rival: resolved.rival }),
    ...(parts !== undefined && { parts }),
    ...(progress.waitingFor !== undefined && { projectWait: progress.waitingFor }),
  });
}

interface Done {
  readonly resolved: WrittenResolution;
  readonly reach: Reach;
  readonly availability: Availability;
  readonly progress: DeletionProgress;
  readonly revision: number;
  /** Milliseconds until a status may be written again that something else keeps changing; 0 = all are written. */
  readonly rewriteAfterMs: number;
  readonly asked: readonly DeletionRequest[];
}

function next(done: Done, { clock }: ReconcileDeps): Reconciled {
  const { resolved, reach, availability, progress, revision, rewriteAfterMs, asked } = done;
  // Of somebody whose clock is ahead of this one.
  const coming = asked.filter(({ isEarly }) => isEarly !== true);
  const moments = coming.map(({ until }) => until - clock.now()).filter((milliseconds) => milliseconds > 0);
  if (resolved.nextAt !== undefined) moments.push(Math.max(0, resolved.nextAt - clock.now()));
  // What was purged may be declared anew, and what waits for a replica's purge is asked for.
  if (progress.purged.length > 0) moments.push(0);
  if (rewriteAfterMs > 0) moments.push(rewriteAfterMs);
  if (progress.unsetMs > 0) moments.push(progress.unsetMs);
  if (!resolved.isComplete) moments.push(refusedAgainMs);
  if (resolved.rival !== undefined || progress.held.size > 0) moments.push(rivalAgainMs);
  // The ring's next step can be taken, or has to wait for replicas that nobody else waits for.
  if (resolved.ringWaits) moments.push(ringAgainMs);
  if (progress.waitingFor === "purge" || progress.purgesSessions) moments.push(purgeAgainMs);
  return {
    ...(moments.length > 0 && { againAfterMs: Math.min(...moments) }),
    ...(reach !== "programmed" && { awaited: { revision, isServed: availability === "served" } }),
  };
}
