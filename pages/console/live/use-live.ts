// Follows what a view shows while the page can be seen. What the view was loaded with is followed
// from its position. Whatever is followed again is read first: after the page was hidden, or after
// its project or credential has changed.

import { useEffect, useRef, useState } from "preact/hooks";
import { useConsole } from "../console-context.ts";
import { type Change, followChanges, type LiveState, type ReadResult } from "./follow-changes.ts";

export interface LiveOptions {
  /** Relative to the project's URL. */
  readonly url: string;
  /** The first read of what is shown; undefined until it is there. */
  readonly loaded: ReadResult | undefined;
  /** The resource or root key, as the project describes it. */
  readonly described: object;
  readonly refetch: () => Promise<ReadResult | undefined>;
  readonly isCurrent: (change: Change) => boolean;
}

/** Undefined until it is known. */
export function useLive(options: LiveOptions): LiveState | undefined {
  const { signIn, isKept, signIns, onRefused } = useConsole();
  const [state, setState] = useState<LiveState>();
  const latest = useRef({ ...options, onRefused });
  latest.current = { ...options, onRefused };
  const { url, described } = options;
  const isLoaded = options.loaded !== undefined;
  const isHidden = useHidden();
  // Where nothing is followed, nothing begins again when the page is seen again.
  const isPaused = isKept || (isHidden && state !== "off");
  /** The URL that was followed since the view was loaded. */
  const followed = useRef<string>(undefined);
  useEffect(() => {
    if (!isLoaded) followed.current = undefined;
    if (!isLoaded || isPaused) return undefined;
    const isFirst = followed.current !== url;
    followed.current = url;
    const position = isFirst ? latest.current.loaded?.position : undefined;
    if (isFirst && position === undefined) {
      setState("off");
      return undefined;
    }
    const ending = new AbortController();
    const following = {
      url,
      send: (to: string, init: RequestInit) => signIn.send(to, init),
      refetch: () => latest.current.refetch(),
      isCurrent: (change: Change) => latest.current.isCurrent(change),
      onState: setState,
      onReset: () => latest.current.onRefused(),
      pause,
      signal: ending.signal,
    };
    void followChanges(following, position);
    return () => ending.abort();
  }, [url, isLoaded, isPaused, described, signIn, signIns]);
  return state;
}

function useHidden(): boolean {
  const [isHidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const onChange = (): void => setHidden(document.hidden);
    document.addEventListener("visibilitychange", onChange);
    return () => document.removeEventListener("visibilitychange", onChange);
  }, []);
  return isHidden;
}

/** Resolves early when the signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
