// The chosen value: an editor for it, and what can be done with it.

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { canonicalJson } from "../../../core/json/canonical.ts";
import { kindOf } from "../../../core/json/members.ts";
import { useConsole } from "../console-context.ts";
import type { RootKey } from "../description.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { maxStoredDepth, prettyJson } from "../editor/pretty.ts";
import type { Control } from "../fields.ts";
import { fits } from "../form/form-text.ts";
import { ScalarControl } from "../form/scalar-control.tsx";
import { Tabs } from "../form/tabs.tsx";
import { ProblemMessage } from "../problem-message.tsx";
import { ConflictNotice, type ConflictOutcome } from "../stored/conflict-notice.tsx";
import { sendConditionally } from "../stored/send-conditionally.ts";
import { StoredActions } from "../stored/stored-actions.tsx";
import type { Stored, StoredText, StoredTextState } from "../stored/stored-text.ts";
import { useStoredText } from "../stored/use-stored-text.ts";
import { AddMember } from "./add-member.tsx";
import { hasKeptPlace, leadsThroughArray } from "./kept-place.ts";
import { textAt } from "./tree-rows.ts";
import { urlOf, type ValuePath } from "./value-path.ts";

/** `load`: nothing was written, but the tree shows less than what is stored. */
export type PanelAction = ConflictOutcome | "add";

export interface ValuePanelProps {
  readonly rootKey: string;
  readonly path: ValuePath;
  /** The root key's entire value as it was last read. */
  readonly whole: string;
  /** Relative to the project's URL. */
  readonly url: string;
  readonly may: RootKey["may"];
  /** Changes when the value is to be read again. */
  readonly reloadCount: number;
  /** Called whenever the panel begins or ceases to hold something that would be lost with it. */
  readonly onDirty: (isDirty: boolean) => void;
  readonly onWritten: (action: PanelAction) => void;
}

export function ValuePanel(props: ValuePanelProps) {
  const { url, path, whole, reloadCount, onDirty, onWritten } = props;
  const { hasMoved, see } = useHasMoved(props);
  const value = useStoredText({ url, editable: prettyJson, writeOf: (body) => ({ method: "PUT", body }), hasMoved });
  const [isAdding, setAdding] = useState(false);
  const { isDirty } = value;
  useEffect(() => {
    // A draft was made of what was there before.
    if (!isDirty) see();
  }, [whole, isDirty]);
  // At once: a click right after a save is not to be asked about it.
  useLayoutEffect(() => onDirty(isDirty || isAdding), [isDirty, isAdding]);
  const loadedCount = useRef(reloadCount);
  useEffect(() => {
    if (loadedCount.current !== reloadCount) void value.load();
    loadedCount.current = reloadCount;
  }, [reloadCount, value]);
  const { stored, loadProblem } = value.state;
  const isCompared = useRef(false);
  useEffect(() => {
    if (stored === undefined || isCompared.current) return;
    isCompared.current = true;
    // Somebody has changed it since the tree was read.
    if (stored.body !== textAt(whole, path)) onWritten("load");
  }, [stored]);
  return (
    <>
      <ProblemMessage problem={loadProblem} />
      {stored === undefined && loadProblem === undefined && <p>Loading…</p>}
      {stored !== undefined && <LoadedPanel {...props} value={value} stored={stored} onAdding={setAdding} />}
    </>
  );
}

/** Whether an element that was seen here, or what is around the value, may have moved. */
function useHasMoved({ rootKey, path, whole }: ValuePanelProps) {
  const { signIn } = useConsole();
  /** As it was when the value was read the last time. */
  const seen = useRef(whole);
  const hasMoved = async ({ body: value }: Stored): Promise<boolean> => {
    if (!leadsThroughArray(path, seen.current)) return false;
    const answer = await sendConditionally(signIn, { url: urlOf(rootKey, []) ?? "", method: "GET" });
    if (!answer.ok || !hasKeptPlace({ path, whole: seen.current, value }, answer.text)) return true;
    seen.current = answer.text;
    return false;
  };
  const see = (): void => {
    seen.current = whole;
  };
  return { hasMoved, see };
}

interface LoadedPanelProps extends ValuePanelProps {
  readonly value: StoredText;
  readonly stored: Stored;
  readonly onAdding: (isAdding: boolean) => void;
}

function LoadedPanel({ value, stored, onAdding, ...props }: LoadedPanelProps) {
  const { rootKey, path, may, onWritten } = props;
  const { draft, writeProblem, conflict, writing } = value.state;
  const [added, setAdded] = useState("");
  const kind = kindOf(stored.text);
  const place = [rootKey, ...path].join(" › ");
  const canSave = may.write && value.isDirty && writing === undefined && isJsonText(draft);
  const save = async (over: Stored | undefined): Promise<void> => {
    if (canSave && (await value.save(over))) onWritten("save");
  };
  const status = (
    <span role="status" class="quiet">
      {added === "" ? statusOf(value.state) : added}
    </span>
  );
  return (
    <>
      <ValueEditor
        label={`Value of ${place}`}
        name={path.at(-1) ?? rootKey}
        kind={kind}
        text={draft}
        readOnly={!may.write}
        onChange={(text) => {
          setAdded("");
          value.edit(text);
        }}
        onSave={() => void save(stored)}
      />
      <ProblemMessage problem={writeProblem} text={draft} />
      {conflict !== undefined && (
        <ConflictNotice
          stored={value}
          noun="value"
          canSave={canSave}
          onSettled={onWritten}
          recreate={{ label: "Save mine again", onClick: () => void save(undefined) }}
        />
      )}
      {(may.write || may.delete) && (
        <StoredActions
          stored={value}
          may={{ save: may.write, delete: may.delete && path.length > 0 }}
          canSave={canSave}
          onSave={() => void save(stored)}
          deletion={{
            title: "Delete this value?",
            text: `What is stored at ${place} is deleted for everybody. This can't be undone.`,
          }}
          onDelete={() => void value.remove(stored).then((isDone) => isDone && onWritten("delete"))}
        >
          {status}
        </StoredActions>
      )}
      {!may.write && !may.delete && status}
      {may.add && (kind === "object" || kind === "array") && (
        <AddMember
          rootKey={rootKey}
          path={path}
          kind={kind}
          disabledReason={value.isDirty ? "Save or discard what you entered above first." : undefined}
          onDirty={onAdding}
          onAdded={(name) => {
            setAdded(name === undefined ? "Added an entry." : `Added ${name}.`);
            onWritten("add");
          }}
        />
      )}
    </>
  );
}

function isJsonText(text: string): boolean {
  return canonicalJson(text, maxStoredDepth).ok;
}

interface ValueEditorProps {
  readonly label: string;
  /** What people read of the value's place. */
  readonly name: string;
  /** Of what is stored. */
  readonly kind: string;
  readonly text: string;
  readonly readOnly: boolean;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
}

/** A text, a number or a yes or no needs no JSON; it can become anything else by it. */
function ValueEditor({ name, kind, ...editor }: ValueEditorProps) {
  const { label, text, readOnly, onChange, onSave } = editor;
  const [isJson, setJson] = useState(false);
  const id = useId();
  const control = controls.get(kind);
  if (control === undefined || readOnly) return <JsonEditor {...editor} />;
  const field = { name, label: name, types: [kind], isRequired: true, control };
  const empty = kind === "string" ? '""' : "";
  const isShown = text === "" || (isJsonText(text) && fits(control, text) && text !== "null");
  return (
    <Tabs label={label} tabs={["Value", "JSON"]} chosen={isJson ? 1 : 0} onChoose={(index) => setJson(index === 1)}>
      {isJson && <JsonEditor {...editor} />}
      {!isJson && !isShown && <p class="quiet">What you entered is of another kind. Go on as JSON.</p>}
      {!isJson && isShown && (
        <form
          class={`field ${kind}`}
          onSubmit={(event) => {
            event.preventDefault();
            onSave();
          }}
        >
          <label for={id}>{name}</label>
          <ScalarControl
            field={field}
            value={text === "" ? undefined : text}
            onChange={(changed) => onChange(changed ?? empty)}
            attributes={{ id }}
          />
        </form>
      )}
    </Tabs>
  );
}

const controls: ReadonlyMap<string, Control> = new Map([
  ["string", { kind: "text", isLong: false }],
  ["number", { kind: "number", step: "any" }],
  ["boolean", { kind: "boolean" }],
]);

function statusOf({ writing, message }: StoredTextState): string {
  if (writing === undefined) return message;
  return writing === "save" ? "Saving…" : "Deleting…";
}
