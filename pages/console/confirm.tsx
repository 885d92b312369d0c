// Asks before something that can't be undone. Shown as long as it is rendered.

import { useId, useLayoutEffect, useRef } from "preact/hooks";

export interface ConfirmDialogProps {
  readonly title: string;
  /** What will happen. */
  readonly text: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

export function ConfirmDialog({ title, text, action, onConfirm, onCancel }: ConfirmDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    cancel.current?.focus();
    // Closing gives the focus back to where it was; a dialog that is only removed loses it.
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="confirm"
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      onCancel={(event) => {
        event.preventDefault();
        onCancel();
      }}
    >
      <h2 id={`${id}-title`}>{title}</h2>
      <p id={`${id}-text`}>{text}</p>
      <div class="actions">
        <button type="button" ref={cancel} onClick={onCancel}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={onConfirm}>
          {action}
        </button>
      </div>
    </dialog>
  );
}

export interface DiscardDialogProps {
  readonly onDiscard: () => void;
  readonly onCancel: () => void;
}

/** Before what was entered is lost. */
export function DiscardDialog({ onDiscard, onCancel }: DiscardDialogProps) {
  return (
    <ConfirmDialog
      title="Discard what you entered?"
      text="It has not been saved."
      action="Discard"
      onConfirm={onDiscard}
      onCancel={onCancel}
    />
  );
}
