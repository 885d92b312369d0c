// Follows what a view shows while the page can be seen. A page that comes back to sight reads
// again. So does one whose project or credential has changed, whether or not it could be followed
// before.

import { useEffect, useRef, useState } from "preact/hooks";
import { useConsole } from "../console-context.ts";
import { type Change, followChanges, type LiveState, type Reading } from "./follow-changes.ts";

export interface LiveOptions {
  /** Relative to the project's URL. */
  readonly url: string;
  /** What the view was shown with first; undefined until it is. */
  readonly loaded: Reading | undefined;
  /** Of what is shown: another one is read again. */
  readonly described: object;
  readonly readAgain: () => Promise<Reading | undefined>;
  readonly isShown: (change: Change) => boolean;
}

/** Undefined until it is known. */
export function useLive(options: LiveOptions): LiveState | undefined {
  const { signIn, isKept, signIns, onRefused } = useConsole();
  const [state, setState] = useState<LiveState>();
  const latest = useRef({ ...options, onRefused });
  latest.current = { ...options, onRefused };
  const { url, described } = options;
  const isLoaded = options.loaded !== undefined;
  /** What was followed before has to be read again. */
  const begun = useRef<string>(undefined);
  useEffect(() => {
    if (!isLoaded) begun.current = undefined;
    if (!isLoaded || isKept) return undefined;
    let ending = new AbortController();
    let isFollowed = true;
    const show = (next: LiveState): void => {
      isFollowed = next !== "off";
      setState(next);
    };
    const begin = (): void => {
      ending.abort();
      if (document.hidden) return;
      ending = new AbortController();
      const { signal } = ending;
      const { loaded } = latest.current;
      const isFirst = begun.current !== url;
      begun.current = url;
      if (isFirst && loaded?.position === undefined) {
        show("off");
        return;
      }
      const following = {
        url,
        send: (to: string, init: RequestInit) => signIn.send(to, init),
        readAgain: () => latest.current.readAgain(),
        isShown: (change: Change) => latest.current.isShown(change),
        onState: show,
        onReset: () => latest.current.onRefused(),
        pause,
        signal,
      };
      void followChanges(following, isFirst ? loaded?.position : undefined);
    };
    const onVisibility = (): void => {
      if (isFollowed) begin();
    };
    begin();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      ending.abort();
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [url, isLoaded, described, signIn, isKept, signIns]);
  return state;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
