// StoredText for a component: reads when the component is first shown, and renders it whenever the
// state changes.

import { useEffect, useRef, useState } from "preact/hooks";
import { useConsole } from "../console-context.ts";
import { sendConditionally } from "./send-conditionally.ts";
import { StoredText, type StoredTextOptions } from "./stored-text.ts";

export type StoredTextSource = Pick<StoredTextOptions, "url" | "editable" | "writeOf" | "hasMoved">;

/** `source` is that of the first rendering: another one needs another component, by its key. */
export function useStoredText(source: StoredTextSource): StoredText {
  const { signIn } = useConsole();
  const [, setState] = useState<object>();
  const [stored] = useState(
    () => new StoredText({ ...source, send: (request) => sendConditionally(signIn, request), onChange: setState }),
  );
  useEffect(() => void stored.load(), [stored]);
  return stored;
}

/** Whether the component is still shown: a request may be answered when it no longer is. */
export function useIsShown(): { readonly current: boolean } {
  const isShown = useRef(true);
  useEffect(
    () => () => {
      isShown.current = false;
    },
    [],
  );
  return isShown;
}
