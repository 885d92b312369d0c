// What a person has entered and not saved: before it is lost, the person is asked, whether the browser leaves the page or the console
// shows another part of it.

import { useLayoutEffect } from "preact/hooks";

/** The editors that hold something. */
const editors = new Set<object>();

export function useUnsaved(isUnsaved: boolean): void {
  useLayoutEffect(() => {
    if (!isUnsaved) return undefined;
    const editor = {};
    editors.add(editor);
    const warn = (event: BeforeUnloadEvent): void => {
      if (editors.has(editor)) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => {
      editors.delete(editor);
      removeEventListener("beforeunload", warn);
    };
  }, [isUnsaved]);
}

/** What was entered is saved by now, or is to be forgotten. */
export function forgetUnsaved(): void {
  editors.clear();
}

/** False when the person wants to stay. */
export function mayLeave(): boolean {
  return editors.size === 0 || confirm("What you entered is not saved. Leave it?");
}
