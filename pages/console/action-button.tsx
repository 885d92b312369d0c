// A button that is temporarily inactive. It is marked as such and not `disabled`, because a button
// that becomes `disabled` loses the focus.

import type { ComponentChildren } from "preact";

export interface ActionButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: () => void;
  readonly isDisabled?: boolean;
  readonly kind?: "plain" | "main" | "danger";
  readonly type?: "button" | "submit";
  readonly label?: string;
}

export function ActionButton(props: ActionButtonProps) {
  const { children, onClick, isDisabled = false, kind = "plain", type = "button", label } = props;
  return (
    <button
      type={type}
      {...(kind !== "plain" && { class: kind })}
      {...(label !== undefined && { "aria-label": label })}
      aria-disabled={isDisabled}
      onClick={() => isDisabled || onClick?.()}
    >
      {children}
    </button>
  );
}
