// Says that somebody else was faster, shows what they wrote, and asks what to do. After a refused
// write the notice gets the focus, and at its end the heading above gets it. Where nothing was sent
// the notice is read out, and the person goes on typing.

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
  const wasFound = conflict !== undefined && conflict.action === undefined;
  useLayoutEffect(() => {
    const { current } = box;
    // The focus alone would bring the middle of a tall box into sight.
    if (!wasFound) current?.focus({ preventScroll: true });
    if (!wasFound) current?.scrollIntoView({ block: "start" });
    return () => {
      const heading = current?.parentElement?.closest("section, main")?.querySelector<HTMLElement>("h1, h2");
      if (current?.contains(document.activeElement)) heading?.focus();
    };
    // A second refused write is announced again; what was found never takes the focus.
  }, [wasFound || conflict]);
  if (conflict === undefined) return null;
  const { action, current } = conflict;
  return (
    <section class={wasFound ? "fault conflict found" : "fault conflict"} aria-labelledby={id} tabIndex={-1} ref={box}>
      <p id={id} {...(wasFound && { role: "alert" as const })}>
        <strong>{whatHappened(conflict, props.noun)}</strong> {whatStays(conflict, props.stored)}
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

function whatStays({ action, current, hasMoved }: Conflict, { isDirty, state: { draft } }: StoredText): string {
  if (action === "delete") return `Nothing was deleted${isDirty ? ", and what you entered is still here" : ""}.`;
  if (action === undefined && !isDirty) return "You see what it was.";
  const stays =
    action === "save"
      ? "Nothing was saved, and what you entered is still here."
      : "What you entered is still here, and not saved yet.";
  if (current === undefined) return stays;
  if (hasMoved) return `${stays} Copy it before you take theirs.`;
  // Of one value there is nothing else to keep.
  const hasParts = [current.text, draft].every((text) => /^\s*[{[]/.test(text));
  if (!hasParts) return stays;
  return `${stays} ${action === "save" ? "Saving yours over it" : "Keeping yours"} keeps what only they changed.`;
}

interface TheirVersionProps extends Pick<ConflictNoticeProps, "stored" | "fields"> {
  readonly action: WriteAction | undefined;
  readonly current: Stored;
}

function TheirVersion({ stored: { state }, fields, action, current }: TheirVersionProps) {
  const before = state.stored?.text ?? "";
  // A delete is about what was loaded, whatever was entered since.
  const mine = action === "delete" ? before : state.draft;
  return (
    <DifferenceList
      versions={{ before, theirs: current.text, mine }}
      fields={fields}
      mineLabel={action === "delete" ? "As you saw it" : "Yours"}
      // Nothing of it is refused.
      hidesMine={action === undefined}
    />
  );
}

const writeWords = { save: "Save mine over it", delete: "Delete it anyway", found: "Keep mine" } as const;

interface ChangedActionsProps extends ConflictNoticeProps {
  readonly conflict: Conflict;
}

function ChangedActions({ stored, canSave, onSettled, conflict }: ChangedActionsProps) {
  const { action, current, hasMoved } = conflict;
  const isSave = action === "save";
  const isBusy = stored.state.writing !== undefined;
  const write = async (): Promise<void> => {
    if (action === undefined) return stored.keepMine();
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
        {action === "delete" && !stored.isDirty ? "Keep it" : "Take theirs, drop mine"}
      </ActionButton>
      {!hasMoved && (
        <ActionButton
          {...(action !== undefined && { kind: "danger" as const })}
          isDisabled={isBusy || (isSave && !canSave)}
          onClick={() => void write()}
        >
          {writeWords[action ?? "found"]}
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
      {recreate !== undefined && stored.isDirty && stored.state.conflict?.hasMoved === false && (
        <ActionButton kind="danger" isDisabled={!canSave} onClick={recreate.onClick}>
          {recreate.label}
        </ActionButton>
      )}
    </>
  );
}
