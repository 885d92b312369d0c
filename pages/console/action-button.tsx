// A button that is temporarily inactive. It is marked as such and not `disabled`, because a button
// that becomes `disabled` loses the focus.

import type { ComponentChildren, Ref } from "preact";

export interface ActionButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: () => void;
  readonly isDisabled?: boolean;
  readonly kind?: "plain" | "main" | "danger";
  readonly type?: "button" | "submit";
  readonly label?: string;
  readonly buttonRef?: Ref<HTMLButtonElement>;
}

export function ActionButton(props: ActionButtonProps) {
  const { children, onClick, isDisabled = false, kind = "plain", type = "button", label, buttonRef } = props;
  return (
    <button
      type={type}
      {...(kind !== "plain" && { class: kind })}
      {...(label !== undefined && { "aria-label": label })}
      {...(buttonRef !== undefined && { ref: buttonRef })}
      aria-disabled={isDisabled}
      onClick={() => isDisabled || onClick?.()}
    >
      {children}
    </button>
  );
}
