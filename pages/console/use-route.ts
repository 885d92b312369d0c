// The view of the console that the page's URL names, and the way to another one. A person is asked
// before something unsaved is lost: the browser has already moved to the other entry of its
// history, so the console moves back to the entry that it shows, and follows once the person
// agrees.

import { useEffect, useRef, useState } from "preact/hooks";
import { fragmentOf, type Route, routeOf } from "./route.ts";
import type { UnsavedChanges } from "./unsaved.ts";

export function go(route: Route): void {
  location.hash = fragmentOf(route);
}

export interface Navigation {
  readonly route: Route;
  /** Something unsaved would be lost on the way that the person has taken. */
  readonly isConfirming: boolean;
  readonly leave: () => void;
  readonly stay: () => void;
}

export function useNavigation(unsaved: UnsavedChanges): Navigation {
  const [fragment, setFragment] = useState(location.hash);
  /** Steps in the browser's history to where the person wants to go. */
  const [pendingSteps, setPendingSteps] = useState<number>();
  const shown = useRef({ fragment, index: 0 });
  /** On the way back to the entry that is shown: Back may be pressed again meanwhile. */
  const isReturning = useRef(false);
  useEffect(() => {
    shown.current.index = indexOfEntry() ?? 0;
    numberEntry(shown.current.index);
    const onHashChange = (): void => {
      // An entry without a number is new, and a new one follows the one that is shown.
      const index = indexOfEntry() ?? shown.current.index + 1;
      numberEntry(index);
      if (location.hash === shown.current.fragment) isReturning.current = false;
      if (location.hash === shown.current.fragment || isReturning.current) return;
      if (unsaved.isEmpty) {
        shown.current = { fragment: location.hash, index };
        setFragment(location.hash);
      } else {
        const steps = index - shown.current.index;
        isReturning.current = true;
        setPendingSteps(steps);
        history.go(-steps);
      }
    };
    addEventListener("hashchange", onHashChange);
    return () => removeEventListener("hashchange", onHashChange);
  }, [unsaved]);
  const settle = (): void => {
    isReturning.current = false;
    setPendingSteps(undefined);
  };
  const leave = (): void => {
    unsaved.clear();
    settle();
    // The entry that was refused is still there.
    history.go(pendingSteps);
  };
  // A save was under way when the person was asked.
  unsaved.onEmpty = pendingSteps === undefined ? undefined : leave;
  return { route: routeOf(fragment), isConfirming: pendingSteps !== undefined, leave, stay: settle };
}

/** The entry's place in the browser's history, counted from the console's first one. */
function indexOfEntry(): number | undefined {
  const { index } = (history.state ?? {}) as { readonly index?: unknown };
  return typeof index === "number" ? index : undefined;
}

function numberEntry(index: number): void {
  history.replaceState({ index }, "");
}
