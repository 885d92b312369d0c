// Loads the project's description, again whenever somebody has signed in or out, and checks for
// changes whenever a person comes back to the page, opens another view or is refused something, in
// dev mode also all the time, as people save manifests beside it. A change is applied at once,
// except where that would lose what the person has entered: then it waits until the person has left
// the view.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isDevMode } from "../sign-in/dev-mode.ts";
import { type Problem, problemOf } from "../sign-in/problem.ts";
import type { SignIn } from "../sign-in/sign-in.ts";
import { unreachable } from "./describe-problem.ts";
import { type Description, readDescription } from "./description.ts";
import { permitted, type Rights } from "./permitted.ts";
import { keepsForms, type Route } from "./route.ts";
import type { UnsavedChanges } from "./unsaved.ts";
import type { Session } from "./use-session.ts";

interface Loaded {
  /** The OpenAPI document. */
  readonly document: unknown;
  /** Relative URL of the reference page, where people may read it. */
  readonly reference: string | undefined;
  readonly etag: string | undefined;
}

/** What became of the last change of the project. `gone`: nothing is served at its address. */
export type ProjectChange = "taken" | "waiting" | "gone";

export interface DescriptionState {
  /** Undefined until it is loaded. */
  readonly loaded?: Loaded;
  readonly problem?: Problem | undefined;
  /** Since the person came to this view. */
  readonly change?: ProjectChange | undefined;
}

export interface FollowedDescription extends DescriptionState {
  /** Of what the person for whom the content was loaded may do. */
  readonly description?: Description | undefined;
  /** Asks whether the project has changed. */
  readonly check: () => void;
}

export interface DescriptionOptions {
  readonly signIn: SignIn;
  readonly session: Session;
  readonly unsaved: UnsavedChanges;
  /** What is shown. */
  readonly route: Route;
}

interface KeyedState extends DescriptionState {
  readonly forKey: number;
}

export function useDescription({ signIn, session, unsaved, route }: DescriptionOptions): FollowedDescription {
  const { changes, contentKey, isKept, owner } = session;
  const [{ forKey, ...state }, setState] = useState<KeyedState>({ forKey: 0 });
  // What was loaded for somebody else is not shown for a moment.
  const known: DescriptionState = forKey === contentKey ? state : {};
  const latest = useRef({ known, contentKey, route, isKept, owner });
  latest.current = { known, contentKey, route, isKept, owner };
  const take = (answer: DescriptionState): void => {
    const { known: before, contentKey: key } = latest.current;
    const mayTake = unsaved.isEmpty || keepsText(before, answer, latest.current);
    setState({
      ...before,
      problem: undefined,
      ...(mayTake && answer),
      ...(isChanged(before, answer) && { change: mayTake ? "taken" : "waiting" }),
      forKey: key,
    });
  };
  useEffect(() => {
    // It stays until somebody has signed in.
    if (isKept) return undefined;
    let isLatest = true;
    void load(signIn, latest.current.known.loaded?.etag).then((answer) => {
      if (isLatest) take(answer);
    });
    return () => {
      isLatest = false;
    };
  }, [signIn, changes]);
  const isChecking = useRef(false);
  const check = async (): Promise<void> => {
    const { known: before, contentKey: key, isKept: isWaiting } = latest.current;
    if (isChecking.current || isWaiting || before.loaded === undefined) return;
    isChecking.current = true;
    const { loaded, problem } = await load(signIn, before.loaded.etag);
    isChecking.current = false;
    if (latest.current.contentKey !== key || latest.current.isKept) return;
    if (loaded !== undefined) take({ loaded });
    else if (problem === undefined)
      setState(({ change, ...state }) => (change === "gone" ? state : { ...state, change }));
    // A server that can't be reached for now has no news; requests for data say so.
    else if (problem.status === 404) setState((state) => ({ ...state, change: "gone" }));
  };
  useReturns(() => void check());
  const { current: first } = useRef(route);
  useEffect(() => {
    if (route === first) return;
    setState(({ change: _, ...before }) => before);
    void check();
  }, [JSON.stringify(route)]);
  const { document } = known.loaded ?? {};
  const description = useMemo(
    () => (document === undefined ? undefined : describe(document, owner)),
    [document, owner?.role, owner?.access],
  );
  return { ...known, description, check: () => void check() };
}

function isChanged(before: DescriptionState, answer: DescriptionState): boolean {
  return before.loaded !== undefined && answer.loaded !== undefined;
}

/** Whether what a person has entered in the view would stay there. */
function keepsText(
  { loaded: before }: DescriptionState,
  { loaded: after }: DescriptionState,
  { route, owner }: { readonly route: Route; readonly owner: Rights },
): boolean {
  if (before === undefined || after === undefined) return true;
  return keepsForms(route, describe(before.document, owner), describe(after.document, owner));
}

function describe(document: unknown, owner: Rights): Description {
  return readDescription(permitted(document, owner));
}

const devIntervalMs = 2_000;

/** Calls `onReturn` when the person comes back to the page, in dev mode also while it is seen. */
function useReturns(onReturn: () => void): void {
  const latest = useRef(onReturn);
  latest.current = onReturn;
  useEffect(() => {
    const onChange = (): void => {
      if (document.visibilityState === "visible") latest.current();
    };
    addEventListener("focus", onChange);
    document.addEventListener("visibilitychange", onChange);
    const timer = isDevMode() ? setInterval(onChange, devIntervalMs) : undefined;
    return () => {
      clearInterval(timer);
      removeEventListener("focus", onChange);
      document.removeEventListener("visibilitychange", onChange);
    };
  }, []);
}

/** Nothing, where the document still has the tag. */
async function load(signIn: SignIn, etag: string | undefined): Promise<DescriptionState> {
  try {
    const headers = etag === undefined ? {} : { "If-None-Match": etag };
    const response = await signIn.send("console/openapi.json", { headers, cache: "no-store" });
    if (response.status === 304) return {};
    if (!response.ok) return { problem: await problemOf(response) };
    const reference = referenceIn(response.headers.get("Link") ?? "");
    const document: unknown = await response.json();
    return { loaded: { document, reference, etag: response.headers.get("ETag") ?? undefined } };
  } catch {
    return { problem: unreachable };
  }
}

/** RFC 8288, of a relation of RFC 8631. */
function referenceIn(header: string): string | undefined {
  const [, url] = /<([^>]*)>; rel="service-doc"/.exec(header) ?? [];
  // Relative, because the page may be reached by another name than the server knows.
  return url?.split("/").at(-1);
}
