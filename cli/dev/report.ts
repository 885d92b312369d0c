// Turns what a reading and its compilation found into lines for the person at the terminal: what is wrong, with file, line
// and column, what goes on being served meanwhile, and what has become live since the last time. Says each thing once.

import { join } from "node:path";
import type { Verdict } from "../../operator/verdict.ts";
import { problemLine, type SourceProblem } from "../manifests/source.ts";
import type { Knowledge } from "./known-objects.ts";
import type { FolderReading } from "./read-folder.ts";

/** How one object stands. */
interface Standing {
  readonly uid: string;
  readonly generation: number;
  readonly served: boolean;
  /** It has a problem of its own. */
  readonly faulty: boolean;
  /** Its file can't be read as a whole. */
  readonly unreadableFile?: string;
}

export interface Snapshot {
  readonly problems: readonly SourceProblem[];
  readonly notes: readonly SourceProblem[];
  /** By `Kind/namespace/name`. */
  readonly standings: ReadonlyMap<string, Standing>;
}

export interface Findings {
  readonly folder: string;
  readonly reading: FolderReading;
  readonly known: Knowledge;
  readonly verdicts: readonly Verdict[];
}

export function snapshotOf(findings: Findings): Snapshot {
  const { known, verdicts, reading } = findings;
  const places = placesOf(findings);
  const problems = [...reading.checked.problems, ...verdicts.flatMap((verdict) => verdictProblems(verdict, places))];
  const notes = [...reading.notes, ...verdicts.flatMap((verdict) => verdictNotices(verdict, places))];
  const faulty = new Set(problems.flatMap(({ subject }) => (subject === undefined ? [] : [subject])));
  const files = new Set(problems.filter(({ subject }) => subject === undefined).map(({ file }) => file));
  const standings = new Map<string, Standing>();
  for (const verdict of verdicts) {
    const subject = subjectOf(verdict);
    const object = known.objects.get(subject);
    const file = join(findings.folder, object?.file ?? "");
    standings.set(subject, {
      uid: verdict.uid,
      generation: object?.generation ?? 0,
      served: verdict.accepted || verdict.live,
      faulty: faulty.has(subject),
      ...(files.has(file) && { unreadableFile: file }),
    });
  }
  return { problems, notes, standings };
}

/** Lines that are news since `before`; on the first time only what is wrong and what is worth knowing. */
export function newsOf(before: Snapshot | undefined, now: Snapshot): readonly string[] {
  const told = new Set([...(before?.problems ?? []), ...(before?.notes ?? [])].map(problemLine));
  const isNews = (line: string): boolean => !told.has(line);
  const problems = unique(now.problems.map(problemLine)).filter(isNews);
  const notes = unique(now.notes.map((note) => `${problemLine(note)} (nothing to mend)`)).filter(
    (line) => !told.has(line),
  );
  return [...problems, ...standingNews(before, now), ...notes];
}

function standingNews(before: Snapshot | undefined, now: Snapshot): readonly string[] {
  const lines: string[] = [];
  for (const [subject, standing] of now.standings) {
    const line = newsOfOne(before?.standings.get(subject), standing, before === undefined);
    if (line !== undefined) lines.push(`${subject} ${line}`);
  }
  for (const subject of before?.standings.keys() ?? []) {
    if (!now.standings.has(subject)) lines.push(`${subject} is withdrawn`);
  }
  const files = unreadableFiles(now).filter((file) => !unreadableFiles(before).includes(file));
  return [...lines, ...files.map((file) => `${file}: what it said before goes on being served`)];
}

function newsOfOne(before: Standing | undefined, now: Standing, first: boolean): string | undefined {
  if (now.faulty) {
    if (before?.faulty && before.served === now.served) return undefined;
    return now.served ? "goes on being served as it was" : "is not served until this is mended";
  }
  // One line for the file stands for all of its objects.
  if (now.unreadableFile !== undefined || !now.served || first) return undefined;
  const changed = before === undefined || before.uid !== now.uid || before.generation !== now.generation;
  const mended = before?.faulty || before?.unreadableFile !== undefined || !before?.served;
  return changed || mended ? "is live" : undefined;
}

function unreadableFiles(snapshot: Snapshot | undefined): readonly string[] {
  const files = [...(snapshot?.standings.values() ?? [])].map(({ unreadableFile }) => unreadableFile);
  return unique(files.filter((file) => file !== undefined));
}

type PlaceOf = (subject: string, pointer: string) => Pick<SourceProblem, "file" | "line" | "column">;

/** Where something stands in the file that was read now; the file's start where it could not be read. */
function placesOf({ folder, reading, known }: Findings): PlaceOf {
  const sources = new Map(reading.checked.manifests.map(({ source }) => [source.subject, source]));
  return (subject, pointer) => {
    const source = sources.get(subject);
    if (source !== undefined) return { file: source.file, ...source.positionOf(pointer) };
    return { file: join(folder, known.objects.get(subject)?.file ?? ""), line: 1, column: 1 };
  };
}

function verdictProblems(verdict: Verdict, placeOf: PlaceOf): readonly SourceProblem[] {
  // What the person asked for is nothing to mend.
  if (verdict.accepted || verdict.reason === "Suspended" || verdict.reason === "Deleting") return [];
  const subject = subjectOf(verdict);
  return verdict.faults.map(({ message, pointer = "" }) => ({
    ...placeOf(subject, pointer),
    subject,
    pointer,
    message: `${message} (${verdict.reason})`,
  }));
}

function verdictNotices(verdict: Verdict, placeOf: PlaceOf): readonly SourceProblem[] {
  if (!verdict.accepted) return [];
  const subject = subjectOf(verdict);
  return verdict.notices.map(({ message, pointer = "" }) => ({
    ...placeOf(subject, pointer),
    subject,
    pointer,
    message,
  }));
}

function subjectOf({ kind, namespace, name }: Verdict): string {
  return `${kind}/${namespace}/${name}`;
}

function unique(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)];
}
