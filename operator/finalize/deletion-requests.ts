// Reads what people ask to be deleted of kept data, from an annotation of a Project or of the key ring's Secret. Each name says a time, and
// only what was kept until then is meant: an annotation that stays where it is, in Git too, deletes nothing that is kept later. Those
// of the future are remembered as refused, because their time comes while the annotation may still be there. Pure.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { wordsIn } from "../kube/annotations.ts";
import { type DataEntry, type DataRecord, kindOf } from "../model/data-record.ts";

export const deletionAnnotation = "jsonplane.io/delete-kept-data";

/** Where a request stands, as records and the audit log say it. */
export const requestSources = {
  project: "Annotation of the Project",
  installation: "Annotation of the key ring's Secret",
} as const;

export type RequestSource = (typeof requestSources)[keyof typeof requestSources];

export function isRequestSource(purgeCause: string | undefined): purgeCause is RequestSource {
  return Object.values<string | undefined>(requestSources).includes(purgeCause);
}

export interface DeletionRequest {
  /** As it stands in the annotation. */
  readonly text: string;
  readonly project: ProjectRef;
  /** Absent = all that is kept of the Project. */
  readonly data?: Pick<DataEntry, "what" | "name">;
  /** Unix milliseconds: what was kept later is not meant. */
  readonly until: number;
  readonly source: RequestSource;
  /** Made before this operator began to lead: it may be older than data whose time an earlier version did not note, or dropped. */
  readonly excludesUndatedData?: true;
  /** Its time is further ahead than clocks may differ: it is refused, and never carried out, not even when that time has come. */
  readonly isEarly?: true;
}

export interface ReadRequests {
  readonly requests: readonly DeletionRequest[];
  /** What was skipped or is refused, each with what to write instead. */
  readonly faults: readonly string[];
}

/** Half of what the API server lets all annotations of an object have together. */
export const maxAnnotationBytes = 128 * 1024;
/** A request with tomorrow's time would delete data that are kept later; clocks differ by less than this. */
export const maxAheadMs = 300_000;
/** More would only repeat the same. */
const maxFaults = 5;
const maxQuoted = 80;

/** Requests on the Secret: `NAMESPACE/PROJECT@TIME`, `NAMESPACE/PROJECT/KIND/NAME@TIME`, with spaces, commas or line breaks between. */
export function readSecretRequests(annotation: string | undefined, now: number): ReadRequests {
  return read(
    annotation,
    { now, source: requestSources.installation, example: "shop/store/ApiResource/books" },
    (name) => {
      const [namespace = "", project = "", ...data] = name.split("/");
      return { project: { namespace, name: project }, data };
    },
  );
}

/** Requests on a Project: `all@TIME`, `KIND/NAME@TIME`. */
export function readProjectRequests(annotation: string | undefined, project: ProjectRef, now: number): ReadRequests {
  return read(annotation, { now, source: requestSources.project, example: "ApiResource/books" }, (name) => ({
    project,
    data: name === "all" ? [] : name.split("/"),
  }));
}

/** As the Secret's annotation has it. */
export function requestName(project: ProjectRef, data?: Pick<DataEntry, "what" | "name">): string {
  return data === undefined ? keyOfProject(project) : `${keyOfProject(project)}/${kindOf(data)}/${data.name}`;
}

/** Whether the request means what was kept so. Data that say no time were kept by an earlier version: before this one led. */
export function isMeant(
  entry: DataEntry,
  { data, until, excludesUndatedData }: Pick<DeletionRequest, "data" | "until" | "excludesUndatedData">,
): boolean {
  if (data !== undefined && (data.what !== entry.what || data.name !== entry.name)) return false;
  return entry.retainedAt === undefined ? excludesUndatedData !== true : Date.parse(entry.retainedAt) <= until;
}

// ------------------------------------------------------------------------------------------------------------------ reading

interface Reading {
  readonly now: number;
  readonly source: RequestSource;
  readonly example: string;
}

interface Named {
  readonly project: ProjectRef;
  /** Nothing, or kind and name. */
  readonly data: readonly string[];
}

function read(annotation: string | undefined, reading: Reading, named: (name: string) => Named): ReadRequests {
  if (annotation === undefined) return { requests: [], faults: [] };
  if (Buffer.byteLength(annotation) > maxAnnotationBytes) {
    const fault = `${deletionAnnotation} has more than ${maxAnnotationBytes} bytes: name whole Projects, or fewer at once`;
    return { requests: [], faults: [fault] };
  }
  const requests: DeletionRequest[] = [];
  const faults: string[] = [];
  for (const text of new Set(wordsIn(annotation))) {
    const request = readOne(text, reading, named);
    if (typeof request !== "string") requests.push(request);
    const fault = faultOf(request);
    if (fault !== undefined && faults.length < maxFaults) faults.push(fault);
  }
  return { requests, faults };
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;
const whats = new Map<string, DataEntry["what"]>([
  ["apiresource", "resource"],
  ["rootkey", "rootkey"],
]);

/** A text is what is wrong with it. */
function readOne(
  text: string,
  { now, source, example }: Reading,
  named: (name: string) => Named,
): DeletionRequest | string {
  const [name = "", time, ...more] = text.split("@");
  const quoted = JSON.stringify(text.slice(0, maxQuoted));
  const until = momentOf(time);
  if (Number.isNaN(until) || more.length > 0) {
    return `${quoted} says no time until which data were kept, such as ${example}@${new Date(now).toISOString()}`;
  }
  const { project, data } = named(name);
  const [kind = "", of = "", ...rest] = data;
  const what = whats.get(kind.toLowerCase());
  const isOne = what !== undefined && namePattern.test(of) && rest.length === 0;
  if (!namePattern.test(project.namespace) || !namePattern.test(project.name) || (data.length > 0 && !isOne)) {
    return `${quoted} names no kept data: write for example ${example}@${time}`;
  }
  const isEarly = until > now + maxAheadMs && { isEarly: true as const };
  return { text, project, until, source, ...(what !== undefined && { data: { what, name: of } }), ...isEarly };
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

/** The most requests of one annotation; an annotation with as many is refused as a whole. */
export const maxRefused = 50;

interface SiftedRequests {
  /** What may be carried out once its time has come. */
  readonly valid: readonly DeletionRequest[];
  /** To be recorded; undefined = none. */
  readonly refused: readonly string[] | undefined;
}

/** Where the Project's annotation was not read, because there is no Project or for another reason, what was refused stays so. */
export function siftRequests(
  { refused: before = [] }: Pick<DataRecord, "refused">,
  requests: readonly DeletionRequest[],
  { isAnnotationRead }: { readonly isAnnotationRead: boolean },
): SiftedRequests {
  const own = requests.filter(({ source }) => source === requestSources.project);
  const standing = new Set(own.map(({ text }) => text));
  const early = own.filter(({ isEarly }) => isEarly === true).map(({ text }) => text);
  const remembered = before.filter((text) => !isAnnotationRead || standing.has(text));
  const refused = [...new Set([...remembered, ...early])].slice(0, maxRefused);
  const isFull = refused.length === maxRefused;
  const isValid = ({ text, source, isEarly }: DeletionRequest): boolean =>
    isEarly !== true && (source !== requestSources.project || !(isFull || refused.includes(text)));
  return { valid: requests.filter(isValid), refused: refused.length === 0 ? undefined : refused };
}
