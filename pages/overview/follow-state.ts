// Polls the state while the page is visible, and says when there is no answer. An unchanged answer
// has no body.

import { useEffect, useState } from "preact/hooks";
import type { OverviewState } from "./state.ts";

export interface Followed {
  /** The newest that is known; undefined until there is one. */
  readonly state?: OverviewState;
  /** Why there is nothing newer. */
  readonly error?: string;
}

const pollIntervalMs = 2_000;
/** No response within this time counts as unreachable. */
const requestTimeoutMs = 10_000;
const unreachable = "The server can't be reached. Is jsonplane dev still running?";

export function useDevState(): Followed {
  const [followed, setFollowed] = useState<Followed>({});
  useEffect(() => followState(setFollowed), []);
  return followed;
}

/** Returns how to end it. */
function followState(show: (next: Followed) => void): () => void {
  let known: Followed = {};
  let tag: string | undefined;
  let timer: number | undefined;
  let isAsking = false;
  let ended = false;

  const ask = async (): Promise<Followed> => {
    const headers: HeadersInit = tag === undefined ? {} : { "If-None-Match": tag };
    // The tag is compared here and not by the browser's cache, which would return the entire state
    // each time.
    const response = await fetch("-/overview/state.json", {
      headers,
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    if (response.status === 304) return known.error === undefined ? known : withoutError(known);
    if (!response.ok) return { ...known, error: await refusalOf(response) };
    const state = (await response.json()) as OverviewState;
    tag = response.headers.get("ETag") ?? undefined;
    return { state };
  };
  const poll = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    const next = await ask().catch(() => ({ ...known, error: unreachable }));
    isAsking = false;
    if (ended) return;
    if (next !== known) show(next);
    known = next;
    if (!document.hidden) timer = setTimeout(() => void poll(), pollIntervalMs);
  };
  const changed = (): void => {
    clearTimeout(timer);
    if (!document.hidden) void poll();
  };
  document.addEventListener("visibilitychange", changed);
  void poll();
  return () => {
    ended = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", changed);
  };
}

function withoutError({ state }: Followed): Followed {
  return state === undefined ? {} : { state };
}

/** Of a problem in the form of RFC 9457. */
async function refusalOf(response: Response): Promise<string> {
  const { detail } = (await response.json().catch(() => ({}))) as { readonly detail?: string };
  return detail === undefined ? `The server answers ${response.status}.` : `${detail}.`;
}
