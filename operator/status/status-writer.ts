// Writes the statuses of all objects of a project, where they differ and several at once, and
// records Events where a condition changed. Objects that are gone are left alone.

import type { Clock } from "../../core/clock.ts";
import { mapLimited } from "../../core/map-limited.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { isRefusedWrite, type KubeApi, type KubeObject } from "../kube/api.ts";
import { controllerOf } from "../model/controller.ts";
import type { CustomResource } from "../model/objects.ts";
import { allObjects, type ProjectObjects } from "../model/project-objects.ts";
import { isUnpublishedReason, type UnpublishedReason } from "../model/reasons.ts";
import type { Refused, Verdict } from "../model/verdict.ts";
import type { Availability } from "../publish/availability.ts";
import { applyStatus, differs } from "./apply-status.ts";
import { formerConditions, isProgrammed, withAvailability } from "./conditions.ts";
import { dataSourceEventsOf } from "./data-source-status.ts";
import { eventsOf } from "./events-of.ts";
import { refusalsByUid, type Status, statusOf } from "./object-status.ts";
import type { ObjectOutcome, ProjectOutcome, RolloutProgress } from "./outcomes.ts";
import { quotaEventsOf } from "./usage-status.ts";
import type { WhyUnpublished } from "./why-unpublished.ts";

export interface Unpublished extends WhyUnpublished {
  readonly availability: Availability;
}

export interface StatusWriter {
  /** Once `isChanged()`, it ends after 16 attempts, and the run that follows writes the rest. */
  write(outcome: ProjectOutcome, isChanged?: () => boolean): Promise<void>;
  /**
   * Reports that nothing could be written to Redis. Conditions of a spec that was evaluated already
   * stay, except Available.
   */
  writeUnpublished(objects: ProjectObjects, unpublished: Unpublished): Promise<void>;
  /**
   * Reports that the Redis belongs to another installation: whether an object is still served is
   * not known.
   */
  writeContested(objects: ProjectObjects, why: WhyUnpublished): Promise<void>;
}

export interface StatusWriterDeps {
  /** What this installation calls itself in `status.controller`. */
  readonly controller: string;
  readonly api: Pick<KubeApi, "apply" | "get">;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  /** Field of a user in Redis, as replicas name it when they refuse one. */
  readonly userField: (username: string) => string;
  /** Applies the object that an own write returned to the cache. */
  readonly applyOwnWrite: (object: CustomResource, answer: KubeObject) => void;
  /** Called with every object that every replica serves now, and did not before. */
  readonly onProgrammed: (object: CustomResource) => void;
  /** Called with every object that is refused: what makes it served later is another change. */
  readonly onRefused: (object: CustomResource) => void;
  /** Called with every status that was written, with the reason of its Ready. */
  readonly onWritten: (object: CustomResource, reason: string) => void;
  readonly baseUrlOf: (ref: ProjectObjects["ref"]) => string;
}

const writesAtATime = 8;
/** Attempted even if the Project has changed meanwhile. */
const minAttempts = 2 * writesAtATime;

export function createStatusWriter(deps: StatusWriterDeps): StatusWriter {
  const write = async ({ object, status }: StatusWrite, mayWrite: MayWrite = () => true): Promise<void> => {
    if (!differs(status, object.status ?? {}) || !mayWrite()) return;
    const answer = await applyStatus(deps.api, object, status, deps.controller);
    if (answer !== undefined) afterWrite(deps, { object, status, answer });
  };

  const unpublishedStatus = (
    object: CustomResource,
    { verdict, availability }: { readonly verdict: RefusedUnpublished; readonly availability: Availability },
    objects: ProjectObjects,
  ): Status => {
    const progress: RolloutProgress = {
      state: "not_published",
      reason: verdict.reason,
      why: verdict.faults[0].message,
    };
    return statusOf(object, {
      verdict,
      progress,
      availability,
      objects,
      controller: controllerOf(object),
      baseUrl: deps.baseUrlOf(objects.ref),
      now: deps.clock.now(),
    });
  };

  return {
    async write(outcome, isChanged = () => false) {
      const { objects, compiled, reports, deletion } = outcome;
      const { config, verdicts } = compiled;
      const now = deps.clock.now();
      const refusals = config === undefined ? new Map() : refusalsByUid(config, reports.refusals, deps.userField);
      const byUid = objectsByUid(objects);
      const statuses = verdicts.flatMap((verdict): readonly StatusWrite[] => {
        const object = byUid.get(verdict.uid);
        if (object === undefined || deletion.gone.has(verdict.uid)) return [];
        const found = objectOutcome(verdict, outcome, { now, refusal: refusals.get(verdict.uid) });
        return [{ object, status: statusOf(object, { ...found, controller: deps.controller }) }];
      });
      const mayWrite = untilChanged(isChanged);
      await writeAll(statuses, (status) => write(status, mayWrite));
    },
    async writeUnpublished(objects, { availability, ...why }) {
      const now = deps.clock.now();
      const statuses = allObjects(objects).map((object): StatusWrite => {
        const verdict = unpublished(object, why);
        const status = isObserved(object)
          ? observedStatus(object, { availability, now })
          : unpublishedStatus(object, { verdict, availability }, objects);
        return { object, status };
      });
      await writeAll(statuses, write);
    },
    async writeContested(objects, why) {
      const statuses = allObjects(objects).map((object): StatusWrite => {
        const verdict = { ...unpublished(object, why), live: false };
        // The rest stays, for the day that the Redis comes back; what was live once matters when
        // Secrets are lost.
        const written = unpublishedStatus(object, { verdict, availability: "unknown" }, objects);
        return { object, status: { ...object.status, ...written } };
      });
      await writeAll(statuses, write);
    },
  };
}

interface Written {
  readonly object: CustomResource;
  readonly status: Status;
  readonly answer: KubeObject;
}

function afterWrite(deps: StatusWriterDeps, { object, status, answer }: Written): void {
  deps.applyOwnWrite(object, answer);
  deps.onWritten(object, reasonOf(status));
  const former = formerConditions(object);
  const { kind } = object;
  const { namespace, name, uid, generation = 0 } = object.metadata;
  const ofData = [...quotaEventsOf(object.status, status), ...dataSourceEventsOf(object, status)];
  const events = [...eventsOf(former, status.conditions), ...ofData];
  for (const event of events) deps.recorder.emit({ kind, namespace, name, uid }, event);
  if (isProgrammed(status.conditions, generation) && !isProgrammed(former, generation)) deps.onProgrammed(object);
  if (isRefused(status)) deps.onRefused(object);
}

/** Asked before each write. */
type MayWrite = () => boolean;

/**
 * Ends early when the Project changes: writing thousands of statuses takes seconds, and the change
 * may be a revocation.
 */
function untilChanged(isChanged: () => boolean): MayWrite {
  let attempts = 0;
  return () => {
    if (attempts >= minAttempts && isChanged()) return false;
    attempts += 1;
    return true;
  };
}

/**
 * Throws the first refusal once all others are written: a policy about one object keeps no other
 * one without its status.
 */
async function writeAll(
  statuses: readonly StatusWrite[],
  write: (status: StatusWrite) => Promise<void>,
): Promise<void> {
  const refusals: unknown[] = [];
  const unlessRefused = async (status: StatusWrite): Promise<void> => {
    try {
      await write(status);
    } catch (error) {
      if (!isRefusedWrite(error)) throw error;
      refusals.push(error);
    }
  };
  await mapLimited(statuses, writesAtATime, unlessRefused);
  const [refusal] = refusals;
  if (refusal !== undefined) throw refusal;
}

interface StatusWrite {
  readonly object: CustomResource;
  readonly status: Status;
}

function reasonOf({ conditions }: Status): string {
  return conditions.find(({ type }) => type === "Ready")?.reason ?? "";
}

/** By its spec, and not because Redis is away. */
function isRefused({ conditions }: Status): boolean {
  const accepted = conditions.find(({ type }) => type === "Accepted");
  return accepted?.status === "False" && !isUnpublishedReason(accepted.reason);
}

/** What the reconcile of a Project found for one object. `refusal`: why a replica can't use it. */
function objectOutcome(
  verdict: Verdict,
  outcome: ProjectOutcome,
  { refusal, now }: { readonly refusal: string | undefined; readonly now: number },
): ObjectOutcome {
  const { objects, resolved, compiled, rollout, reports, deletion, dataLoss, baseUrl } = outcome;
  const { config } = compiled;
  const isProject = verdict.kind === "Project";
  const dataWait = (isProject ? deletion.waitingFor : undefined) ?? deletion.waiting.get(verdict.uid);
  const heldBy = deletion.heldBy.get(verdict.uid);
  const facts = resolved.statuses.get(verdict.uid);
  const check = reports.checks.get(verdict.uid);
  return {
    verdict,
    progress: { state: rollout.state, ...(refusal !== undefined && { refusal }) },
    availability: rollout.availability,
    objects,
    building: reports.building,
    usage: reports.usage,
    baseUrl,
    now,
    ...(isProject && dataLoss !== undefined && { dataLoss }),
    ...(isProject && reports.copy !== undefined && { copy: reports.copy }),
    ...(dataWait !== undefined && { dataWait }),
    ...(heldBy !== undefined && { heldBy }),
    ...(facts !== undefined && { facts }),
    ...(check !== undefined && { check }),
    ...(config !== undefined && { config }),
  };
}

interface RefusedUnpublished extends Refused {
  readonly reason: UnpublishedReason;
}

/** Nothing is known of it while Redis is away: neither what is served nor who holds a name. */
function unpublished(object: CustomResource, { reason, message }: WhyUnpublished): RefusedUnpublished {
  const { namespace, name, uid } = object.metadata;
  const live = "status" in object && (object.status as { liveGeneration?: number } | undefined)?.liveGeneration;
  const subject = { kind: object.kind, namespace, name, uid };
  return { ...subject, accepted: false, reason, faults: [{ message }], live: live !== undefined };
}

/** The present status, with a new Available condition. */
function observedStatus(object: CustomResource, found: Parameters<typeof withAvailability>[1]): Status {
  return {
    ...(object.status as Status),
    conditions: withAvailability(formerConditions(object), found) as Status["conditions"],
  };
}

/** Its newest spec was evaluated already; an outage of Redis changes nothing of that. */
function isObserved(object: CustomResource): boolean {
  const { generation, deletionTimestamp } = object.metadata;
  const ready = formerConditions(object).find(({ type }) => type === "Ready");
  // Why it isn't written may be another reason by now.
  if (isUnpublishedReason(ready?.reason ?? "") || deletionTimestamp !== undefined) return false;
  return ready?.observedGeneration === generation;
}

function objectsByUid(objects: ProjectObjects): ReadonlyMap<string, CustomResource> {
  return new Map(allObjects(objects).map((object) => [object.metadata.uid, object]));
}
