// Turns the result of a pass into lines for the terminal: what is wrong, with file, line and
// column, what is still served, and what is live since the last pass. Each line is printed once.

import { join } from "node:path";
import { keyOfProject, projectOfKey } from "../../../core/config/config-keys.ts";
import type { Json } from "../../../core/config/types.ts";
import type { Manifest } from "../../../core/manifests/validate-manifest.ts";
import type { Verdict } from "../../../operator/model/verdict.ts";
import type { ManifestState } from "../../../pages/overview/state.ts";
import { absentSecret } from "../../manifests/absent-secret.ts";
import { type CheckedManifest, hidesObjects } from "../../manifests/check-manifests.ts";
import { issuerWarnings } from "../../manifests/issuer-warnings.ts";
import { missingProject, type Referrer, referrerOf, unacceptedProject } from "../../manifests/missing-project.ts";
import { noteLine, problemLine, type SourceNote, type SourceProblem } from "../../manifests/source.ts";
import type { PassResult } from "../apply/read-folder.ts";
import { type KnownObject, namesAnotherProject, projectSubjectOf } from "../data-folder/dev-state.ts";

interface ReportedObject {
  readonly uid: string;
  readonly generation: number;
  readonly state: ManifestState;
  readonly file: string;
  /** What has become of it is said where its Project is missed. */
  readonly isAwaitingProject?: true;
}

export interface Snapshot {
  readonly problems: readonly SourceProblem[];
  readonly notes: readonly SourceNote[];
  /** By `Kind/namespace/name`. */
  readonly objects: ReadonlyMap<string, ReportedObject>;
  /** Files of objects of which a part can't be read. */
  readonly unreadable: readonly string[];
}

/** The state as a sentence without subject; undefined where its file has one for all objects. */
export function sentenceOf(state: ManifestState): string | undefined {
  return sentences[state];
}

export const unreadableSentence = "what can't be read in it is skipped until this is fixed; what was live stays live";

export function snapshotOf(result: PassResult): Snapshot {
  const { known, verdicts, reading } = result;
  const locate = locator(result);
  const absent = absentProjects(result);
  const problems = [
    ...reading.checked.problems,
    ...absent.problems,
    ...verdicts.flatMap((verdict) => verdictProblems(verdict, locate, result)),
  ];
  const notes = [
    ...reading.notes,
    ...reading.checked.manifests.flatMap((each) => issuerWarnings(each, "dev mode")),
    ...verdicts.flatMap((verdict) => verdictNotices(verdict, locate)),
  ];
  const faulty = new Set(problems.flatMap(({ subject }) => (subject === undefined ? [] : [subject])));
  const unreadable = new Set(problems.filter(hidesObjects).map(({ file }) => file));
  const read = new Set(reading.checked.manifests.map(({ source }) => source.subject));
  const objects = new Map<string, ReportedObject>();
  for (const verdict of verdicts) {
    const subject = subjectOf(verdict);
    const object = known.objects.get(subject);
    const file = join(result.folder, object?.file ?? "");
    const state = stateOf(verdict, {
      isFaulty: faulty.has(subject) || absent.referrers.has(subject),
      isUnreadable: unreadable.has(file) && !read.has(subject),
    });
    objects.set(subject, {
      uid: verdict.uid,
      generation: object?.generation ?? 0,
      state,
      file,
      ...(absent.referrers.has(subject) && { isAwaitingProject: true }),
    });
  }
  const files = new Set([...objects.values()].map(({ file }) => file));
  return { problems, notes, objects, unreadable: [...unreadable.intersection(files)] };
}

function stateOf(
  verdict: Verdict,
  { isFaulty, isUnreadable }: { isFaulty: boolean; isUnreadable: boolean },
): ManifestState {
  if (isFaulty && !verdict.accepted && verdict.partly === true) return "partly";
  if (isFaulty) return verdict.accepted || verdict.live ? "lastGood" : "refused";
  if (isUnreadable) return "unreadable";
  return verdict.accepted ? "live" : "waiting";
}

/**
 * Lines that are new since `before`; the first time only problems and notes. `urlOf` gives the URL
 * of what became live, if it has one of its own, as Projects do.
 */
export function newsOf(before: Snapshot | undefined, now: Snapshot, urlOf: UrlOf = () => undefined): readonly string[] {
  const known = new Set([...(before?.problems ?? []).map(problemLine), ...(before?.notes ?? []).map(noteLine)]);
  const isNews = (line: string): boolean => !known.has(line);
  const problems = unique(now.problems.map(problemLine)).filter(isNews);
  const notes = unique(now.notes.map(noteLine)).filter(isNews);
  return [...problems, ...objectNews(before, now, urlOf), ...notes];
}

/** By `Kind/namespace/name`. */
type UrlOf = (subject: string) => string | undefined;

function objectNews(before: Snapshot | undefined, now: Snapshot, urlOf: UrlOf): readonly string[] {
  const lines: string[] = [];
  for (const [subject, object] of now.objects) {
    const former = before?.objects.get(subject);
    const change = before === undefined && object.state === "live" ? undefined : newsOfOne(former, object);
    if (change !== undefined) lines.push(`${subject} ${change}${atNewUrl(former, object, urlOf(subject))}`);
  }
  for (const subject of before?.objects.keys() ?? []) {
    if (!now.objects.has(subject)) lines.push(`${subject} is no longer served`);
  }
  const files = now.unreadable.filter((file) => !before?.unreadable.includes(file));
  return [...lines, ...files.map((file) => `${file}: ${unreadableSentence}`)];
}

/** Where it was served before, people know the URL. */
function atNewUrl(former: ReportedObject | undefined, now: ReportedObject, url: string | undefined): string {
  const wasServed = former !== undefined && former.state !== "refused" && former.state !== "waiting";
  return url === undefined || wasServed || now.state !== "live" ? "" : ` at ${url}`;
}

const sentences: Readonly<Record<ManifestState, string | undefined>> = {
  live: "is live",
  lastGood: "is still served in its last valid version",
  partly: "is served without this",
  refused: "is not served until this is fixed",
  waiting: "is not served: its Project is suspended",
  // The file has one line for all of its objects.
  unreadable: undefined,
};

function newsOfOne(before: ReportedObject | undefined, now: ReportedObject): string | undefined {
  if (now.isAwaitingProject) return undefined;
  const sameVersion = before?.uid === now.uid && before.generation === now.generation;
  const isKnown = before?.state === now.state && (sameVersion || ["lastGood", "partly", "refused"].includes(now.state));
  return isKnown ? undefined : sentences[now.state];
}

type Locate = (subject: string, pointer: string) => Pick<SourceProblem, "file" | "line" | "column">;

/** Finds the position in the file as last read; its start when it could not be read. */
function locator({ folder, reading, known }: PassResult): Locate {
  const sources = new Map(reading.checked.manifests.map(({ source }) => [source.subject, source]));
  return (subject, pointer) => {
    const source = sources.get(subject);
    if (source !== undefined) return { file: source.file, ...source.positionOf(pointer) };
    return { file: join(folder, known.objects.get(subject)?.file ?? ""), line: 1, column: 1 };
  };
}

function verdictProblems(verdict: Verdict, locate: Locate, { known, reading }: PassResult): readonly SourceProblem[] {
  // Nothing is wrong when the manifest itself asks for it.
  if (verdict.accepted || verdict.reason === "Suspended" || verdict.reason === "Deleting") return [];
  if (isWithoutProject(verdict)) return [];
  const subject = subjectOf(verdict);
  const manifest = (known.objects.get(subject)?.manifest ?? null) as unknown as Json;
  const absent = absentSecret(verdict, manifest, reading.checked.problems);
  return verdict.faults.map(({ message, pointer = "" }) => ({
    ...locate(subject, pointer),
    subject,
    pointer,
    message: absent?.refused ?? `${message} (${verdict.reason})`,
  }));
}

function verdictNotices(verdict: Verdict, locate: Locate): readonly SourceNote[] {
  if (!verdict.accepted) return [];
  const subject = subjectOf(verdict);
  return verdict.notices.map(({ reason, message, pointer = "" }) => ({
    ...locate(subject, pointer),
    subject,
    pointer,
    message,
    ...(reason === "SchemaWarning" && { isWarning: true }),
  }));
}

function subjectOf({ kind, namespace, name }: Verdict): string {
  return `${kind}/${namespace}/${name}`;
}

function unique(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)];
}

export interface AbsentProjects {
  readonly problems: readonly SourceProblem[];
  /** `Kind/namespace/name` of each object that names one. */
  readonly referrers: ReadonlySet<string>;
}

function absentProjects(result: PassResult): AbsentProjects {
  const { known, reading } = result;
  const waiting = referrersByProject(result);
  const projects = [...known.objects.values()].flatMap(({ manifest }) => {
    const { namespace, name } = manifest.metadata;
    return manifest.kind === "Project" ? [{ namespace, name }] : [];
  });
  const there = new Set(projects.map(keyOfProject));
  const refused = new Set(reading.checked.problems.map(({ subject }) => subject));
  const problems = [...waiting].flatMap(([key, [first, ...others]]) => {
    if (first === undefined) return [];
    const isThere = there.has(key) || refused.has(`Project/${key}`);
    const [ref, referrers] = [projectOfKey(key), [first, ...others] as const];
    return [isThere ? unacceptedProject(ref, referrers) : missingProject(ref, referrers, projects)];
  });
  return { problems, referrers: new Set([...waiting.values()].flat().map(({ subject }) => subject)) };
}

/** By `<namespace>/<name>` of the Project. */
function referrersByProject(result: PassResult): ReadonlyMap<string, readonly Referrer[]> {
  const read = new Map(result.reading.checked.manifests.map((entry) => [entry.source.subject, entry]));
  const found = new Map<string, Referrer[]>();
  for (const verdict of result.verdicts) {
    const subject = `${verdict.kind}/${verdict.namespace}/${verdict.name}`;
    const object = result.known.objects.get(subject);
    if (object === undefined) continue;
    const manifest = waitingManifest(verdict, object, read.get(subject));
    if (manifest === undefined) continue;
    const source = read.get(subject)?.source;
    const start = { subject, file: join(result.folder, object.file), line: 1, column: 1 };
    const position = source === undefined ? start : referrerOf(source);
    const key = projectSubjectOf(manifest).slice("Project/".length);
    found.set(key, [...(found.get(key) ?? []), { ...position, isServed: verdict.accepted || verdict.live }]);
  }
  return found;
}

/** The version that names an absent Project: the present one, or one that waits for it. */
function waitingManifest(
  verdict: Verdict,
  { manifest }: KnownObject,
  read: CheckedManifest | undefined,
): Manifest | undefined {
  if (read !== undefined && namesAnotherProject(read.manifest, manifest)) return read.manifest;
  return isWithoutProject(verdict) ? manifest : undefined;
}

function isWithoutProject(verdict: Verdict): boolean {
  return !verdict.accepted && verdict.reason === "ProjectNotFound";
}
