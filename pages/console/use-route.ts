// The part of the console that the page's URL names, and the way to another one.

import { useEffect, useRef, useState } from "preact/hooks";
import { fragmentOf, type Route, routeOf } from "./route.ts";
import { mayLeave } from "./unsaved.ts";

export function go(route: Route): void {
  location.hash = fragmentOf(route);
}

/** The current route, and every later one. */
export function useRoute(): Route {
  const [fragment, setFragment] = useState(location.hash);
  const shown = useRef(fragment);
  useEffect(() => {
    const changed = (): void => {
      if (location.hash === shown.current) return;
      if (mayLeave()) {
        shown.current = location.hash;
        setFragment(location.hash);
      } else history.replaceState(null, "", shown.current === "" ? "#/" : shown.current);
    };
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return routeOf(fragment);
}
