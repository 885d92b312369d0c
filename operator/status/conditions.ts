// Turns what is known of one object into its conditions: Accepted, Programmed, Ready, a Project's
// Available, and Reconciling or Stalled while they are true. Equal knowledge gives equal
// conditions, so that nothing is written when nothing has changed.

import type { Condition as StatusCondition } from "../../core/manifests/object.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import { isDeleting } from "../model/project-objects.ts";
import { isTransient, type NoticeReason, type Reason } from "../model/reasons.ts";
import type { Verdict } from "../model/verdict.ts";
import type { Availability } from "../publish/availability.ts";
import {
  acceptedMessage,
  availabilityMessages,
  clipped,
  dataLostMessage,
  deletingMessage,
  faultMessage,
  maxConditionCharacters,
  programmedMessages,
  readyMessage,
  refusedMessage,
  unavailableMessage,
  undeletableMessage,
  unprogrammedMessage,
} from "./messages.ts";
import type { ObjectOutcome, RolloutProgress } from "./outcomes.ts";

export type ConditionType =
  | "Accepted"
  | "Programmed"
  | "Ready"
  | "Populated"
  | "Reconciling"
  | "Available"
  | "Stalled"
  | "StoredObjectsValid";

export interface Condition extends StatusCondition {
  readonly type: ConditionType;
  readonly observedGeneration: number;
}

/** A condition as the API server has it, perhaps from another writer. */
export interface FormerCondition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** What one condition says; `reason` of a false one is from the catalogue. */
type ConditionContent =
  | { readonly status: "True"; readonly reason: string; readonly message: string }
  | { readonly status: "False"; readonly reason: Reason; readonly message: string };

/** Likewise of Available and StoredObjectsValid, which may be unknown. */
export type ConditionNow =
  | ConditionContent
  | { readonly status: "Unknown"; readonly reason: AvailabilityReason | Reason; readonly message: string };

type AvailabilityReason = keyof typeof availabilityMessages;

/** What conditions need of an object as the API server has it. */
export interface PresentObject {
  readonly kind: string;
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: unknown;
}

export function conditionsOf(object: PresentObject, outcome: ObjectOutcome): readonly Condition[] {
  const accepted = acceptedOf(object, outcome);
  const programmed = programmedOf(object, outcome, accepted);
  const populated = populatedOf(object, outcome);
  const ready = readyOf(accepted, programmed, { ...outcome, populated });
  const contents: [ConditionType, ConditionNow][] = [
    ["Accepted", accepted],
    ["Programmed", programmed],
    ["Ready", ready],
  ];
  if (populated !== undefined) contents.push(["Populated", populated]);
  if (object.kind === "Project") contents.push(["Available", availableOf(object, outcome, accepted)]);
  if (ready.status === "False") {
    const type = isTransient(ready.reason) ? "Reconciling" : "Stalled";
    contents.push([type, { status: "True", reason: ready.reason, message: ready.message }]);
  }
  const { generation = 0 } = object.metadata;
  const former = formerConditions(object);
  return contents.map(([type, content]) => dated(type, content, { generation, former, now: outcome.now }));
}

export function formerConditions({ status }: Pick<PresentObject, "status">): readonly FormerCondition[] {
  return (status as { readonly conditions?: readonly FormerCondition[] } | undefined)?.conditions ?? [];
}

/**
 * True once every live replica serves the newest spec; replicas that come and go never turn it
 * back.
 */
export function isProgrammed(conditions: readonly FormerCondition[], generation: number): boolean {
  const programmed = conditions.find(({ type }) => type === "Programmed");
  return programmed?.status === "True" && programmed.observedGeneration === generation;
}

/**
 * Keeps every condition except Available. Available also stays if nothing was served yet or the
 * Project wasn't evaluated.
 */
export function withAvailability(
  former: readonly FormerCondition[],
  { availability, now }: { readonly availability: Availability; readonly now: number },
): readonly FormerCondition[] {
  return former.map((condition) => {
    const isOfReplicas = Object.hasOwn(availabilityMessages, condition.reason);
    if (condition.type !== "Available" || !isOfReplicas) return condition;
    const content = byAvailability(availability, former);
    return dated("Available", content, { generation: condition.observedGeneration ?? 0, former, now });
  });
}

function acceptedOf(object: PresentObject, { verdict, progress, ...waits }: ObjectOutcome): ConditionContent {
  // An object whose Project has gone too reports its own end, not that.
  if (isDeleting(object)) return { status: "False", reason: "Deleting", message: deletionOf(progress, waits) };
  if (!verdict.accepted) return { status: "False", reason: verdict.reason, message: refusedMessage(verdict) };
  const reason: NoticeReason | "Accepted" = verdict.notices[0]?.reason ?? "Accepted";
  return { status: "True", reason, message: acceptedMessage(verdict.notices) };
}

function deletionOf(
  progress: RolloutProgress,
  { dataWait, heldBy }: Pick<ObjectOutcome, "dataWait" | "heldBy">,
): string {
  return progress.state === "not_published" ? undeletableMessage(progress.why) : deletingMessage(dataWait, heldBy);
}

function programmedOf(
  object: PresentObject,
  { verdict, progress }: ObjectOutcome,
  accepted: ConditionContent,
): ConditionContent {
  const deleting = isDeleting(object);
  const { generation = 0 } = object.metadata;
  if (!deleting && isLive(verdict) && isProgrammed(formerConditions(object), generation)) return programmedContent;
  const newest = verdict.accepted || verdict.partly === true;
  if (accepted.status === "False" && (deleting || !newest)) {
    return { status: "False", reason: accepted.reason, message: unprogrammedMessage };
  }
  return byProgress(progress);
}

const programmedContent: ConditionContent = {
  status: "True",
  reason: "Programmed",
  message: programmedMessages.Programmed,
};

function byProgress(progress: RolloutProgress): ConditionContent {
  if (progress.state === "not_published") {
    return { status: "False", reason: progress.reason, message: progress.why };
  }
  const waits = (reason: keyof typeof programmedMessages & Reason): ConditionContent => ({
    status: "False",
    reason,
    message: programmedMessages[reason],
  });
  if (progress.state === "no_replicas") return waits("NoReplicas");
  if (progress.state === "waiting") return waits("WaitingForReplicas");
  if (progress.refusal === undefined) return programmedContent;
  // Reported with the acknowledgement of the same revision: earlier it would speak of an older
  // version.
  const message = `${programmedMessages.RefusedByReplica}. It says: ${progress.refusal}`;
  return { status: "False", reason: "RefusedByReplica", message };
}

function readyOf(
  accepted: ConditionContent,
  programmed: ConditionContent,
  { dataLoss, populated }: ObjectOutcome & { readonly populated: ConditionContent | undefined },
): ConditionContent {
  if (accepted.status === "False") return accepted;
  if (dataLoss !== undefined) return { status: "False", reason: "DataLost", message: dataLostMessage(dataLoss) };
  if (programmed.status === "False") return programmed;
  if (populated?.status === "False") return populated;
  if (accepted.reason === "Accepted") return { status: "True", reason: "Ready", message: readyMessage };
  // What is worth knowing stands where people look first.
  return { status: "True", reason: accepted.reason, message: accepted.message };
}

/**
 * Of a Project that declares a source of data. It is true for good: they are copied once. Undefined
 * = nothing is declared, or nothing known yet.
 */
function populatedOf(object: PresentObject, { copy }: ObjectOutcome): ConditionContent | undefined {
  const former = formerConditions(object).find(({ type }) => type === "Populated");
  if (former?.status === "True" || (copy === undefined && former !== undefined)) return former as ConditionContent;
  if (copy === undefined) return undefined;
  if (copy.why !== undefined) return { status: "False", reason: copy.why.reason, message: faultMessage(copy.why) };
  return copy.figures === undefined || copy.figures.refused === 0 ? populated : partlyPopulated;
}

const populated: ConditionContent = { status: "True", reason: "Copied", message: "The data were copied" };
const partlyPopulated: ConditionContent = {
  status: "True",
  reason: "CopiedInPart",
  message: "What could be copied was; status.dataSource says how much could not, and why",
};

/**
 * What is served now, unlike the others: it is turned back, and neither Ready nor health checks
 * depend on it.
 */
function availableOf(
  object: PresentObject,
  { verdict, availability, dataLoss }: ObjectOutcome,
  accepted: ConditionContent,
): ConditionNow {
  if (accepted.status === "False" && (isDeleting(object) || !isLive(verdict))) {
    return { status: "False", reason: accepted.reason, message: unavailableMessage };
  }
  if (dataLoss !== undefined) return { status: "False", reason: "DataLost", message: dataLostMessage(dataLoss) };
  return byAvailability(availability, formerConditions(object));
}

function byAvailability(availability: Availability, former: readonly FormerCondition[]): ConditionNow {
  if (availability === "no_replicas") return unavailable("NoReplicas");
  if (availability === "unknown") return unknown("ReplicasUnknown");
  if (availability === "refused") return unknown("RefusedByReplica");
  // A replica that served an earlier version still serves that.
  const wasServed = former.some(({ type, status }) => type === "Available" && status === "True");
  return availability === "served" || wasServed ? available : unavailable("WaitingForReplicas");
}

const available: ConditionNow = { status: "True", reason: "Available", message: availabilityMessages.Available };

function unavailable(reason: AvailabilityReason & Reason): ConditionNow {
  return { status: "False", reason, message: availabilityMessages[reason] };
}

function unknown(reason: AvailabilityReason): ConditionNow {
  return { status: "Unknown", reason, message: availabilityMessages[reason] };
}

function isLive(verdict: Verdict): boolean {
  return verdict.accepted || verdict.live;
}

export interface Dating {
  readonly generation: number;
  readonly former: readonly FormerCondition[];
  /** Unix milliseconds. */
  readonly now: number;
}

export function dated(
  type: ConditionType,
  { status, reason, message }: ConditionNow,
  { generation, former, now }: Dating,
): Condition {
  const before = former.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : rfc3339(now);
  return {
    type,
    status,
    observedGeneration: generation,
    lastTransitionTime,
    reason,
    message: clipped(message, maxConditionCharacters),
  };
}
