// The chosen value: where it is, an editor for it, and what can be done with it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { kindOf } from "../../../core/json/members.ts";
import type { SignIn } from "../../sign-in/sign-in.ts";
import { ConfirmDialog } from "../confirm.tsx";
import { JsonEditor } from "../editor/json-editor.tsx";
import { AddMember } from "./add-member.tsx";
import { wordsOf } from "./stored-value.ts";
import { type StoredValue, useStoredValue } from "./use-stored-value.ts";
import type { ValuePath } from "./value-path.ts";

/** `reload`: nothing was written, but the page is behind what is stored. */
export type PanelAction = "save" | "add" | "delete" | "reload";

export interface ValuePanelProps {
  readonly signIn: SignIn;
  readonly rootKey: string;
  readonly path: ValuePath;
  /** Relative to the project's URL. */
  readonly url: string;
  readonly mayWrite: boolean;
  /** Changes when the value is to be read anew. */
  readonly turn: number;
  /** Called whenever the panel begins or ceases to hold something that would be lost with it. */
  readonly onTyped: (isTyped: boolean) => void;
  readonly onWritten: (action: PanelAction) => void;
}

export function ValuePanel({ signIn, rootKey, path, url, mayWrite, turn, onTyped, onWritten }: ValuePanelProps) {
  const value = useStoredValue({ signIn, url, turn, onWritten });
  const { stored, refused, isTyped } = value;
  const [added, setAdded] = useState("");
  const [isAdding, setAdding] = useState(false);
  useEffect(() => onTyped(isTyped || isAdding), [isTyped, isAdding]);

  if (refused !== undefined) {
    return (
      <p class="fault" role="alert">
        {wordsOf(refused, signIn)}
      </p>
    );
  }
  if (stored === undefined) return <p>Loading…</p>;
  const kind = kindOf(stored.text);
  const canAdd = mayWrite && (kind === "object" || kind === "array");
  return (
    <>
      <JsonEditor
        label={`Value of ${url}`}
        text={value.typed}
        faults={value.problem?.errors ?? noErrors}
        readOnly={!mayWrite}
        onChange={(typed) => {
          setAdded("");
          value.type(typed);
        }}
        onSave={() => void (isTyped && !value.isBusy && value.save(stored.tag))}
      />
      {value.problem !== undefined && (
        <p class="fault" role="alert">
          {wordsOf(value.problem, signIn)}
        </p>
      )}
      {value.conflict !== undefined && <ConflictNotice value={value} />}
      {mayWrite && <Actions value={value} tag={stored.tag} url={url} isRoot={path.length === 0} />}
      <p role="status" class="quiet">
        {added === "" ? value.message : added}
      </p>
      {canAdd && (
        <AddMember
          signIn={signIn}
          rootKey={rootKey}
          path={path}
          kind={kind}
          hindrance={isTyped ? "Save or discard what you typed above first." : undefined}
          onTyped={setAdding}
          onAdded={(name) => {
            setAdded(name === undefined ? "Added an element." : `Added ${name}.`);
            onWritten("add");
          }}
        />
      )}
    </>
  );
}

const noErrors = [] as const;

interface ActionsProps {
  readonly value: StoredValue;
  readonly tag: string | undefined;
  readonly url: string;
  readonly isRoot: boolean;
}

function Actions({ value, tag, url, isRoot }: ActionsProps) {
  const [asks, setAsks] = useState(false);
  const { isTyped, isBusy } = value;
  // Not `disabled`: a button that becomes so loses the focus.
  const isIdle = !isTyped || isBusy;
  return (
    <div class="actions">
      <button type="button" class="main" aria-disabled={isIdle} onClick={() => void (isIdle || value.save(tag))}>
        Save
      </button>
      <button type="button" aria-disabled={isIdle} onClick={() => isIdle || value.discard()}>
        Discard changes
      </button>
      {!isRoot && (
        <button type="button" class="danger" disabled={isBusy} onClick={() => setAsks(true)}>
          Delete…
        </button>
      )}
      {asks && (
        <ConfirmDialog
          title="Delete this value?"
          text={`What is stored at ${url} will be gone. This can't be undone.`}
          action="Delete"
          onCancel={() => setAsks(false)}
          onConfirm={() => {
            setAsks(false);
            void value.remove(tag);
          }}
        />
      )}
    </div>
  );
}

function ConflictNotice({ value }: { readonly value: StoredValue }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = box;
    current?.querySelector("button")?.focus();
    return () => {
      const heading = current?.closest("section")?.querySelector<HTMLElement>("h2");
      if (current?.contains(document.activeElement)) heading?.focus();
    };
  }, []);
  const { conflict, isBusy } = value;
  if (conflict === undefined) return null;
  const settle = conflict.action === "save" ? value.save : value.remove;
  return (
    <div class="fault conflict" role="alert" ref={box}>
      <p>
        Somebody else {conflict.tag === undefined ? "deleted" : "changed"} this value meanwhile. Your request changed
        nothing, and what you typed is still here.
      </p>
      <div class="actions">
        <button type="button" aria-disabled={isBusy} onClick={() => isBusy || value.reload()}>
          Load the stored value
        </button>
        <button
          type="button"
          class="danger"
          aria-disabled={isBusy}
          onClick={() => void (isBusy || settle(conflict.tag))}
        >
          {conflict.action === "save" ? "Overwrite" : "Delete anyway"}
        </button>
      </div>
    </div>
  );
}
