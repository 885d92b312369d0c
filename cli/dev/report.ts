// Turns what a reading and its compilation found into lines for the person at the terminal: what is wrong, with file, line
// and column, what goes on being served meanwhile, and what has become live since the last time. Says each thing once.

import type { Verdict } from "../../operator/verdict.ts";
import { problemLine, type SourceProblem } from "../manifests/source.ts";
import type { Knowledge } from "./known-objects.ts";

/** How one object stands. */
interface Standing {
  readonly uid: string;
  readonly generation: number;
  readonly served: boolean;
  readonly faulty: boolean;
}

export interface Snapshot {
  readonly problems: readonly SourceProblem[];
  readonly notes: readonly SourceProblem[];
  /** By `Kind/namespace/name`. */
  readonly standings: ReadonlyMap<string, Standing>;
}

export interface Findings {
  readonly known: Knowledge;
  /** Of reading and checking. */
  readonly problems: readonly SourceProblem[];
  readonly notes: readonly SourceProblem[];
  readonly verdicts: readonly Verdict[];
  /** Where `pointer` of an object stands in its file, as it was read now; undefined when it could not be read. */
  readonly locate: (subject: string, pointer: string) => Pick<SourceProblem, "file" | "line" | "column"> | undefined;
}

export function snapshotOf(findings: Findings): Snapshot {
  const { known, verdicts } = findings;
  const compiled = verdicts.flatMap((verdict) => verdictProblems(verdict, findings));
  const problems = [...findings.problems, ...compiled];
  const faulty = faultyObjects(problems, known);
  const standings = new Map<string, Standing>();
  for (const verdict of verdicts) {
    const subject = subjectOf(verdict);
    const { uid } = verdict;
    const generation = known.objects.get(subject)?.generation ?? 0;
    const served = verdict.accepted || verdict.live;
    standings.set(subject, { uid, generation, served, faulty: faulty.has(subject) });
  }
  const notices = verdicts.flatMap((verdict) => verdictNotices(verdict, findings));
  return { problems, notes: [...findings.notes, ...notices], standings };
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
  return lines;
}

function newsOfOne(before: Standing | undefined, now: Standing, first: boolean): string | undefined {
  if (now.faulty) {
    if (before?.faulty && before.served === now.served) return undefined;
    return now.served ? "goes on being served as it was" : "is not served until this is mended";
  }
  if (!now.served || first) return undefined;
  const changed = before === undefined || before.uid !== now.uid || before.generation !== now.generation;
  return changed || before.faulty || !before.served ? "is live" : undefined;
}

function verdictProblems(verdict: Verdict, findings: Findings): readonly SourceProblem[] {
  // What the person asked for, and nothing to mend.
  if (verdict.accepted || verdict.reason === "Suspended" || verdict.reason === "Deleting") return [];
  return verdict.faults.map(({ message, pointer = "" }) => ({
    ...placeOf(verdict, pointer, findings),
    subject: subjectOf(verdict),
    pointer,
    message: `${message} (${verdict.reason})`,
  }));
}

function verdictNotices(verdict: Verdict, findings: Findings): readonly SourceProblem[] {
  if (!verdict.accepted) return [];
  return verdict.notices.map(({ message, pointer = "" }) => ({
    ...placeOf(verdict, pointer, findings),
    subject: subjectOf(verdict),
    pointer,
    message,
  }));
}

function placeOf(
  verdict: Verdict,
  pointer: string,
  findings: Findings,
): Pick<SourceProblem, "file" | "line" | "column"> {
  const subject = subjectOf(verdict);
  const file = findings.known.objects.get(subject)?.file ?? "";
  return findings.locate(subject, pointer) ?? { file, line: 1, column: 1 };
}

/** Objects with a problem of their own, and those of a file that can't be read at all. */
function faultyObjects(problems: readonly SourceProblem[], known: Knowledge): ReadonlySet<string> {
  const files = new Set(problems.filter(({ subject }) => subject === undefined).map(({ file }) => file));
  const inFiles = [...known.objects].filter(([, { file }]) => files.has(file)).map(([subject]) => subject);
  return new Set([...inFiles, ...problems.flatMap(({ subject }) => (subject === undefined ? [] : [subject]))]);
}

function subjectOf({ kind, namespace, name }: Verdict): string {
  return `${kind}/${namespace}/${name}`;
}

function unique(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)];
}
