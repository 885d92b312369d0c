// Shows faults at their places in the editor: those that the server found, by their pointers, and
// why the text is not JSON.

import { forceLinting, linter, lintGutter } from "@codemirror/lint";
import { type Extension, StateEffect, StateField, type Text, type Transaction } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { canonicalJson } from "../../../core/json/canonical.ts";
import { endOfValue } from "../../../core/json/walk.ts";
import { rangeAt, type TextRange } from "./positions.ts";
import { maxStoredDepth } from "./pretty.ts";

export interface EditorFault {
  /** JSON Pointer (RFC 6901) into the text; empty = the entire value. */
  readonly pointer: string;
  /** Of JSON Schema. */
  readonly keyword?: string;
  readonly message: string;
}

/** A fault as it is listed below the text. */
export interface ShownFault extends TextRange {
  /** From 1. */
  readonly line: number;
  /** What the server refers to, which need not be in the text; undefined for the text itself. */
  readonly pointer?: string;
  readonly message: string;
}

/** Time without typing after which the text is checked. */
const lintDelayMs = 400;
/** A person mends a few at a time. */
const maxShown = 50;

const setFaults = StateEffect.define<readonly EditorFault[]>();

const faultField = StateField.define<readonly EditorFault[]>({
  create: () => [],
  update(faults, transaction) {
    const latest = transaction.effects.findLast((effect) => effect.is(setFaults));
    return latest?.is(setFaults) ? latest.value : untouched(faults, transaction);
  },
});

/** What the server said of a line is true until the line, or what the pointer leads to, changes. */
function untouched(faults: readonly EditorFault[], transaction: Transaction): readonly EditorFault[] {
  const { docChanged, startState, newDoc, changes } = transaction;
  if (!docChanged || faults.length === 0) return faults;
  const [before, after] = [startState.doc.toString(), newDoc.toString()];
  return faults.filter(({ pointer }) => {
    const line = startState.doc.lineAt(rangeAt(before, pointer).from);
    const isTouched = changes.touchesRange(line.from, line.to) !== false;
    return !isTouched && isUntouched(pointer, before, after);
  });
}

/** Whether both texts have the same where the pointer leads. */
export function isUntouched(pointer: string, before: string, after: string): boolean {
  return wordedAt(before, pointer) === wordedAt(after, pointer);
}

/** A fault of a list is one of how many elements it has, or which. */
function wordedAt(text: string, pointer: string): string {
  const { from, to } = rangeAt(text, pointer);
  return text.slice(from, text.charAt(to - 1) === "[" ? endOfValue(text, to - 1) : to);
}

/** `onShown` is called with what is shown, whenever the text has been checked. */
export function faultMarks(onShown: (faults: readonly ShownFault[]) => void): Extension {
  return [
    faultField,
    lintGutter(),
    linter(
      ({ state }) => {
        const shown = faultsIn(state.doc, state.field(faultField));
        onShown(shown);
        return shown.map(({ from, to, message }) => ({ from, to, message, severity: "error" as const }));
      },
      {
        delay: lintDelayMs,
        needsRefresh: ({ startState, state }) => startState.field(faultField) !== state.field(faultField),
      },
    ),
  ];
}

export function showFaults(view: EditorView, faults: readonly EditorFault[]): void {
  view.dispatch({ effects: setFaults.of(faults) });
  forceLinting(view);
}

function faultsIn(document: Text, faults: readonly EditorFault[]): readonly ShownFault[] {
  const text = document.toString();
  const found = [
    ...syntaxFaults(text),
    ...faults.map(({ pointer, message }) => ({ ...rangeAt(text, pointer), pointer, message })),
  ];
  return found
    .slice(0, maxShown)
    .map((fault) => ({ ...fault, line: document.lineAt(fault.from).number }))
    .sort((one, other) => one.from - other.from);
}

function syntaxFaults(text: string): readonly (TextRange & { readonly message: string })[] {
  // Nothing is wrong yet with what nobody has begun to write.
  if (text.trim() === "") return [];
  const result = canonicalJson(text, maxStoredDepth);
  if (result.ok) return [];
  const { at, reason } = result.error;
  return [{ from: Math.min(at, text.length), to: Math.min(at + 1, text.length), message: reason }];
}
