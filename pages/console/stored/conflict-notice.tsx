// Says that somebody else was faster, and asks what is to happen. It gets the focus, and gives it to the heading above when it is settled.

import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import type { Conflict, StoredText, WriteAction } from "./stored-text.ts";

/** `load`: the draft was given up for what is stored; `discard`: it was given up, and nothing is stored. */
export type ConflictOutcome = WriteAction | "load" | "discard";

export interface ConflictNoticeProps {
  readonly stored: StoredText;
  /** What is stored, in a word. */
  readonly noun: "object" | "value";
  /** False while the draft can't be stored. */
  readonly canSave: boolean;
  readonly onSettled: (outcome: ConflictOutcome) => void;
  /** Stores the draft anew where somebody has deleted what it was made of; absent where that can't be. */
  readonly recreate?: { readonly label: string; readonly onClick: () => void } | undefined;
}

export function ConflictNotice(props: ConflictNoticeProps) {
  const box = useRef<HTMLElement>(null);
  const id = useId();
  const { conflict } = props.stored.state;
  useLayoutEffect(() => {
    const { current } = box;
    current?.focus();
    return () => {
      const heading = current?.parentElement?.closest("section, main")?.querySelector<HTMLElement>("h1, h2");
      if (current?.contains(document.activeElement)) heading?.focus();
    };
    // A second conflict is said anew.
  }, [conflict]);
  if (conflict === undefined) return null;
  const { action, current } = conflict;
  return (
    <section class="fault conflict" aria-labelledby={id} tabIndex={-1} ref={box}>
      <p id={id}>
        <strong>
          Somebody else {current === undefined ? "deleted" : "changed"} this {props.noun} meanwhile.
        </strong>{" "}
        {action === "save" ? "Nothing was saved" : "Nothing was deleted"}, and what you entered is still here.
      </p>
      <div class="actions">
        {current === undefined ? <DeletedActions {...props} /> : <ChangedActions {...props} conflict={conflict} />}
      </div>
    </section>
  );
}

function ChangedActions({ stored, noun, canSave, onSettled, conflict }: ConflictNoticeProps & { conflict: Conflict }) {
  const { action, current } = conflict;
  const isSave = action === "save";
  const isBusy = stored.state.writing !== undefined;
  const write = async (): Promise<void> => {
    const isDone = isSave ? await stored.save(current) : await stored.remove(current);
    if (isDone) onSettled(action);
  };
  const load = (): void => {
    stored.takeTheirs();
    onSettled("load");
  };
  return (
    <>
      <ActionButton isDisabled={isBusy} onClick={load}>
        Load the stored {noun}
      </ActionButton>
      <ActionButton kind="danger" isDisabled={isBusy || (isSave && !canSave)} onClick={() => void write()}>
        {isSave ? "Save mine over it" : "Delete it anyway"}
      </ActionButton>
    </>
  );
}

function DeletedActions({ stored, canSave, onSettled, recreate }: ConflictNoticeProps) {
  return (
    <>
      <ActionButton isDisabled={stored.state.writing !== undefined} onClick={() => onSettled("discard")}>
        Discard mine
      </ActionButton>
      {recreate !== undefined && (
        <ActionButton kind="danger" isDisabled={!canSave} onClick={recreate.onClick}>
          {recreate.label}
        </ActionButton>
      )}
    </>
  );
}
