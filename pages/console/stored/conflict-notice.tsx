// Says that somebody else was faster, shows what they wrote, and asks what to do. It gets the
// focus, and returns it to the heading above.

import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import type { Field } from "../fields.ts";
import { DifferenceList } from "./difference-list.tsx";
import type { Conflict, Stored, StoredText, WriteAction } from "./stored-text.ts";

/** `load`: dropped for what is stored; `discard`: dropped, and nothing is stored. */
export type ConflictOutcome = WriteAction | "load" | "discard";

export interface ConflictNoticeProps {
  readonly stored: StoredText;
  /** What is stored, in a word. */
  readonly noun: "object" | "value";
  /** Of the object, whose labels are shown; without them JSON Pointers are. */
  readonly fields?: readonly Field[];
  /** False while the draft can't be stored. */
  readonly canSave: boolean;
  readonly onSettled: (outcome: ConflictOutcome) => void;
  /** Stores the draft again where somebody deleted what it was made of; absent if impossible. */
  readonly recreate?: { readonly label: string; readonly onClick: () => void } | undefined;
}

export function ConflictNotice(props: ConflictNoticeProps) {
  const box = useRef<HTMLElement>(null);
  const id = useId();
  const { conflict } = props.stored.state;
  useLayoutEffect(() => {
    const { current } = box;
    // The focus alone would bring the middle of a tall box into sight.
    current?.focus({ preventScroll: true });
    current?.scrollIntoView({ block: "start" });
    return () => {
      const heading = current?.parentElement?.closest("section, main")?.querySelector<HTMLElement>("h1, h2");
      if (current?.contains(document.activeElement)) heading?.focus();
    };
    // A second conflict is announced again.
  }, [conflict]);
  if (conflict === undefined) return null;
  const { action, current, hasMoved } = conflict;
  // Of one value there is nothing else to keep.
  const hasParts =
    current !== undefined && [current.text, props.stored.state.draft].every((text) => /^\s*[{[]/.test(text));
  return (
    <section class="fault conflict" aria-labelledby={id} tabIndex={-1} ref={box}>
      <p id={id}>
        <strong>{whatHappened(conflict, props.noun)}</strong>{" "}
        {action === "save" ? "Nothing was saved" : "Nothing was deleted"}, and what you entered is still here.
        {hasMoved && action === "save" && " Copy it before you take theirs."}
        {hasParts && !hasMoved && action === "save" && " Saving yours over it keeps what only they changed."}
      </p>
      {current !== undefined && <TheirVersion {...props} action={action} current={current} />}
      <div class="actions">
        {current === undefined ? <DeletedActions {...props} /> : <ChangedActions {...props} conflict={conflict} />}
      </div>
    </section>
  );
}

function whatHappened({ current, hasMoved }: Conflict, noun: string): string {
  if (hasMoved)
    return "Somebody else changed the list around this value meanwhile, so another one may be at its place by now.";
  return `Somebody else ${current === undefined ? "deleted" : "changed"} this ${noun} meanwhile.`;
}

interface TheirVersionProps extends Pick<ConflictNoticeProps, "stored" | "fields"> {
  readonly action: WriteAction;
  readonly current: Stored;
}

function TheirVersion({ stored: { state }, fields, action, current }: TheirVersionProps) {
  const before = state.stored?.text ?? "";
  // A delete is about what was loaded, whatever was entered since.
  const mine = action === "save" ? state.draft : before;
  return (
    <DifferenceList
      versions={{ before, theirs: current.text, mine }}
      fields={fields}
      mineLabel={action === "save" ? "Yours" : "As you saw it"}
    />
  );
}

interface ChangedActionsProps extends ConflictNoticeProps {
  readonly conflict: Conflict;
}

function ChangedActions({ stored, canSave, onSettled, conflict }: ChangedActionsProps) {
  const { action, current, hasMoved } = conflict;
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
        {isSave || stored.isDirty ? "Take theirs, drop mine" : "Keep it"}
      </ActionButton>
      {!hasMoved && (
        <ActionButton kind="danger" isDisabled={isBusy || (isSave && !canSave)} onClick={() => void write()}>
          {isSave ? "Save mine over it" : "Delete it anyway"}
        </ActionButton>
      )}
    </>
  );
}

function DeletedActions({ stored, canSave, onSettled, recreate }: ConflictNoticeProps) {
  return (
    <>
      <ActionButton isDisabled={stored.state.writing !== undefined} onClick={() => onSettled("discard")}>
        {stored.isDirty ? "Discard mine" : "Close"}
      </ActionButton>
      {recreate !== undefined && stored.state.conflict?.hasMoved === false && (
        <ActionButton kind="danger" isDisabled={!canSave} onClick={recreate.onClick}>
          {recreate.label}
        </ActionButton>
      )}
    </>
  );
}
