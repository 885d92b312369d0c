// Reads what `jsonplane data orphans --delete` asks to be deleted of retained data, from an
// annotation of the key ring's Secret. Each name says a time, and only what was retained until then
// is meant: what is retained later stays. Pure.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { wordsIn } from "../kube/objects.ts";
import { type DataEntry, kindOf } from "../model/data-inventory.ts";
import { childKinds, dataKinds } from "../model/kinds.ts";

export const deletionAnnotation = "jsonplane.io/delete-kept-data";

/** Why data are purged that a request names, as inventories and the audit log say it. */
export const requestCause = "Annotation of the key ring's Secret";

export interface DeletionRequest {
  /** As it stands in the annotation. */
  readonly text: string;
  readonly project: ProjectRef;
  /** Absent = all that is retained of the Project. */
  readonly data?: Pick<DataEntry, "what" | "name">;
  /** Unix milliseconds: what was retained later is not meant. */
  readonly until: number;
  /**
   * Its time is further ahead than clocks may differ: it is refused, and never carried out, not
   * even when that time has come.
   */
  readonly isEarly?: true;
}

export interface ReadRequests {
  readonly requests: readonly DeletionRequest[];
  /** What was skipped or is refused, each with what to write instead. */
  readonly faults: readonly string[];
}

/** Half of what the API server lets all annotations of an object have together. */
export const maxAnnotationBytes = 128 * 1024;
/**
 * A request with tomorrow's time would delete data that are retained later; clocks differ by less
 * than this.
 */
export const maxAheadMs = 300_000;
/** More would only repeat the same. */
const maxFaults = 5;
const maxQuoted = 80;

/**
 * `NAMESPACE/PROJECT@TIME`, `NAMESPACE/PROJECT/KIND/NAME@TIME`, with spaces, commas or line breaks
 * between.
 */
export function readRequests(annotation: string | undefined, now: number): ReadRequests {
  if (annotation === undefined) return { requests: [], faults: [] };
  if (Buffer.byteLength(annotation) > maxAnnotationBytes) {
    const fault = `${deletionAnnotation} has more than ${maxAnnotationBytes} bytes: name whole Projects, or fewer at once`;
    return { requests: [], faults: [fault] };
  }
  const requests: DeletionRequest[] = [];
  const faults: string[] = [];
  for (const text of new Set(wordsIn(annotation))) {
    const request = readOne(text, now);
    if (typeof request !== "string") requests.push(request);
    const fault = faultOf(request);
    if (fault !== undefined && faults.length < maxFaults) faults.push(fault);
  }
  return { requests, faults };
}

/** As the Secret's annotation has it. */
export function requestName(project: ProjectRef, data?: Pick<DataEntry, "what" | "name">): string {
  return data === undefined ? keyOfProject(project) : `${keyOfProject(project)}/${kindOf(data)}/${data.name}`;
}

/**
 * Whether the request means what was retained so. An entry without a time may get one that is early
 * enough.
 */
export function isMeant(entry: DataEntry, { data, until }: Pick<DeletionRequest, "data" | "until">): boolean {
  if (data !== undefined && (data.what !== entry.what || data.name !== entry.name)) return false;
  return entry.retainedAt === undefined || Date.parse(entry.retainedAt) <= until;
}

const example = "shop/store/ApiResource/books";
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;
const whats = new Map<string, DataEntry["what"]>(dataKinds.map((kind) => [kind.toLowerCase(), childKinds[kind].data]));

/** A text is what is wrong with it. */
function readOne(text: string, now: number): DeletionRequest | string {
  const [named = "", time, ...more] = text.split("@");
  const quoted = JSON.stringify(text.slice(0, maxQuoted));
  const until = momentOf(time);
  if (Number.isNaN(until) || more.length > 0) {
    return `${quoted} says no time until which data were kept, such as ${example}@${new Date(now).toISOString()}`;
  }
  const [namespace = "", name = "", ...data] = named.split("/");
  const [kind = "", of = "", ...rest] = data;
  const what = whats.get(kind.toLowerCase());
  const isOne = what !== undefined && namePattern.test(of) && rest.length === 0;
  if (!namePattern.test(namespace) || !namePattern.test(name) || (data.length > 0 && !isOne)) {
    return `${quoted} names no kept data: write for example ${example}@${time}`;
  }
  const isEarly = until > now + maxAheadMs && { isEarly: true as const };
  return {
    text,
    project: { namespace, name },
    until,
    ...(what !== undefined && { data: { what, name: of } }),
    ...isEarly,
  };
}

/** NaN where there is none, such as on February 30: Date.parse takes that for a day in March. */
function momentOf(time: string | undefined): number {
  if (time === undefined || !timePattern.test(time)) return Number.NaN;
  const day = time.slice(0, "2026-11-23".length);
  const start = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(day) ? Date.parse(time) : Number.NaN;
}

function faultOf(request: DeletionRequest | string): string | undefined {
  if (typeof request === "string") return request;
  const quoted = JSON.stringify(request.text.slice(0, maxQuoted));
  if (request.isEarly !== true) return undefined;
  return `${quoted} is in the future, and stays refused: name a time until which data were kept already`;
}
