// An editor for JSON text, with faults shown at their lines and listed below it. The Tab key leaves
// it, as it leaves every other field.

import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { Annotation, type ChangeSpec, Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type EditorFault, faultMarks, type ShownFault, showFaults } from "./faults.ts";

export interface JsonEditorProps {
  /** For screen readers. */
  readonly label: string;
  /** What it begins with; a later change of it replaces what was entered. */
  readonly text: string;
  /** What the server has found wrong with it. */
  readonly faults?: readonly EditorFault[];
  readonly readOnly?: boolean;
  readonly onChange?: (text: string) => void;
  /** Ctrl-S, or Cmd-S. */
  readonly onSave?: () => void;
}

const noFaults: readonly EditorFault[] = [];
/** A change by the page and not the person: Undo reverts it by itself. */
const isFromOutside = Annotation.define<true>();

export function JsonEditor(props: JsonEditorProps) {
  const { label, text, faults = noFaults, readOnly = false } = props;
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const [attributes] = useState(() => new Compartment());
  const [shown, setShown] = useState<readonly ShownFault[]>([]);

  useLayoutEffect(() => {
    const parent = container.current;
    if (parent === null) return;
    const extensions = [setup(latest, setShown), attributes.of(attributesOf(label, readOnly))];
    const made = new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    view.current?.dispatch({ effects: attributes.reconfigure(attributesOf(label, readOnly)) });
  }, [label, readOnly]);
  // Before the next key: later, this could replace what was entered since by an older text.
  useLayoutEffect(() => {
    const { current } = view;
    const whole = current?.state.doc.toString();
    if (current === undefined || whole === undefined || whole === text) return;
    const annotations = [isFromOutside.of(true), isolateHistory.of("full")];
    current.dispatch({ changes: changeBetween(whole, text), annotations });
  }, [text]);
  // By what they say: owners may make a new list each time that they render.
  const faultsText = JSON.stringify(faults);
  useEffect(() => {
    if (view.current !== undefined) showFaults(view.current, faults);
  }, [faultsText]);

  return (
    <div class="json-editor">
      <div ref={container} class="json-text" />
      <ul class="json-faults" aria-label={`Faults: ${label}`} aria-live="polite">
        {shown.map((fault) => (
          <li key={`${fault.from} ${fault.message}`}>
            <button type="button" onClick={() => view.current && goTo(view.current, fault)}>
              Line {fault.line}
            </button>{" "}
            {fault.pointer !== undefined && fault.pointer !== "" && <code>{fault.pointer}</code>} {fault.message}
          </li>
        ))}
      </ul>
    </div>
  );
}

function setup(
  latest: { readonly current: JsonEditorProps },
  onShown: (faults: readonly ShownFault[]) => void,
): Extension {
  const save = () => {
    const { onSave } = latest.current;
    onSave?.();
    return onSave !== undefined;
  };
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    indentUnit.of("  "),
    bracketMatching(),
    json(),
    EditorView.lineWrapping,
    appearance,
    faultMarks(onShown),
    // None of these binds Tab.
    keymap.of([{ key: "Mod-s", run: save, preventDefault: true }, ...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    EditorView.updateListener.of(({ docChanged, transactions, state }) => {
      const isEntered = !transactions.some((each) => each.annotation(isFromOutside));
      if (docChanged && isEntered) latest.current.onChange?.(state.doc.toString());
    }),
  ];
}

/** What differs and no more, so that the cursor and the faults of other lines stay. */
function changeBetween(before: string, after: string): ChangeSpec {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from += 1;
  let end = 0;
  while (end < shorter - from && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

function attributesOf(label: string, readOnly: boolean): Extension {
  return [EditorState.readOnly.of(readOnly), EditorView.contentAttributes.of({ "aria-label": label })];
}

function goTo(view: EditorView, { from }: ShownFault): void {
  // The text may have changed since it was checked.
  view.dispatch({ selection: { anchor: Math.min(from, view.state.doc.length) }, scrollIntoView: true });
  view.focus();
}

const theme = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "var(--page)", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "6px 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--raised)",
    color: "var(--quiet)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLineGutter": { backgroundColor: "var(--chosen)", color: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selection)", outline: "1px solid var(--edge)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--fault-page)", outline: "1px solid var(--fault)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    backgroundColor: "var(--fault-page)",
    textDecoration: "underline wavy var(--fault)",
    textDecorationSkipInk: "none",
  },
  ".cm-lintRange-active": { backgroundColor: "var(--fault-page)" },
  ".cm-lint-marker": { width: "0.9em", height: "0.9em" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
    maxWidth: "min(32rem, calc(100vw - 32px))",
  },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--fault)" },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--json-name)" },
  { tag: tags.string, color: "var(--json-string)" },
  { tag: tags.number, color: "var(--json-number)" },
  { tag: [tags.bool, tags.null], color: "var(--json-word)" },
  { tag: [tags.punctuation, tags.separator, tags.bracket, tags.squareBracket, tags.brace], color: "var(--text)" },
]);

export const appearance: Extension = [theme, syntaxHighlighting(colours)];
