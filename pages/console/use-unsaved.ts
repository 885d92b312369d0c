// Says of an editor that it holds something unsaved, as long as it does.

import { useLayoutEffect } from "preact/hooks";
import { useConsole } from "./console-context.ts";

export function useUnsaved(isDirty: boolean): void {
  const { unsaved } = useConsole();
  useLayoutEffect(() => {
    if (!isDirty) return undefined;
    const remove = unsaved.add();
    const warn = (event: BeforeUnloadEvent): void => {
      if (!unsaved.isEmpty) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => {
      remove();
      removeEventListener("beforeunload", warn);
    };
  }, [isDirty, unsaved]);
}
