// What reading manifests gives: objects that know their positions, and problems with file, line and
// column.

import type { UncheckedObject } from "../../core/manifests/object.ts";
import { printable } from "../../operator/status/messages.ts";
import type { Position } from "./positions.ts";

export interface SourceProblem extends Position {
  /** As it was given on the command line, with the path below it. */
  readonly file: string;
  /** `Kind/namespace/name` of the object, as far as it is known. */
  readonly subject?: string;
  /** RFC 6901, from the object's root; empty for the object or the file as a whole. */
  readonly pointer: string;
  readonly message: string;
  /** The document could not be read: it may hold other objects than `subject`, or several. */
  readonly isUnread?: true;
  /** There is no manifest of `subject`: others name it. */
  readonly isAbsent?: true;
}

/** What is worth saying and stops nothing, such as a kind that is left out. */
export interface SourceNote extends SourceProblem {
  /** Somebody should change the manifest: a keyword that is ignored, a surprising scalar. */
  readonly isWarning?: true;
}

export interface SourcedObject {
  readonly object: UncheckedObject;
  readonly file: string;
  readonly line: number;
  /** `Kind/namespace/name`. */
  readonly subject: string;
  /** Of what `pointer` names, or of its nearest parent where it is missing. */
  positionOf(pointer: string): Position;
  /** Where the name of the member stands, for a member that should not be there. */
  positionOfKey(pointer: string): Position;
  /** The text of the scalar at `pointer` where it has no quotes. */
  plainText(pointer: string): string | undefined;
}

/** By file, line and column: problems at one position keep the order in which they were found. */
export function byPosition(one: SourceProblem, other: SourceProblem): number {
  if (one.file !== other.file) return one.file < other.file ? -1 : 1;
  return one.line - other.line || one.column - other.column;
}

/** `file:line:column: Kind/namespace/name /pointer: message`, on one line. */
export function problemLine(problem: SourceProblem): string {
  const { file, line, column, subject, pointer, message } = problem;
  const about = [subject, pointer].filter((part) => part !== undefined && part !== "").join(" ");
  const text = `${file}:${line}:${column}: ${about === "" ? "" : `${about}: `}${message}`;
  return printable(text.replaceAll(/[\r\n]+/g, " "));
}

export function noteLine(note: SourceNote): string {
  return problemLine({ ...note, message: `${note.isWarning ? "warning" : "note"}: ${note.message}` });
}
