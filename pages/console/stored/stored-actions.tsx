// The buttons below an editor of stored JSON: save, discard, and delete after a question. What the
// caller may not do is not offered.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import { ConfirmDialog } from "../confirm.tsx";
import type { StoredText } from "./stored-text.ts";

export interface StoredActionsProps {
  readonly stored: StoredText;
  readonly may: { readonly save: boolean; readonly delete: boolean };
  /** False while there is nothing to save, or it can't be saved. */
  readonly canSave: boolean;
  readonly onSave: () => void;
  /** The question before something is deleted. */
  readonly deletion: { readonly title: string; readonly text: string };
  readonly onDelete: () => void;
  /** Shown next to the buttons. */
  readonly children?: ComponentChildren;
}

export function StoredActions(props: StoredActionsProps) {
  const { stored, may, canSave, onSave, deletion, onDelete, children } = props;
  const [isConfirming, setConfirming] = useState(false);
  const isBusy = stored.state.writing !== undefined;
  return (
    <div class={may.save || may.delete ? "actions stays" : "actions"}>
      {may.save && (
        <>
          <ActionButton kind="main" isDisabled={!canSave} onClick={onSave}>
            Save
          </ActionButton>
          <ActionButton isDisabled={isBusy || !stored.isDirty} onClick={() => stored.discard()}>
            Discard changes
          </ActionButton>
        </>
      )}
      {may.delete && (
        <ActionButton kind="danger" isDisabled={isBusy} onClick={() => setConfirming(true)}>
          Delete…
        </ActionButton>
      )}
      {children}
      {isConfirming && (
        <ConfirmDialog
          {...deletion}
          action="Delete"
          onConfirm={() => {
            setConfirming(false);
            onDelete();
          }}
          onCancel={() => setConfirming(false)}
        />
      )}
    </div>
  );
}
