// The page of a list that the address names, and again whenever somebody has changed it. An answer
// for a page that is no longer wanted is dropped.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Problem, problemOf } from "../../sign-in/problem.ts";
import type { SignIn } from "../../sign-in/sign-in.ts";
import { useConsole } from "../console-context.ts";
import { unreachable } from "../describe-problem.ts";
import type { Resource } from "../description.ts";
import type { ReadResult } from "../live/follow-changes.ts";
import { readTimeout } from "../stored/send-conditionally.ts";
import { mayRetry } from "../stored/stored-text.ts";
import { go } from "../use-route.ts";
import type { ListedObject, StoredObject } from "./columns.ts";
import { ExactNumber, keepNumbersExact } from "./exact-number.ts";
import { readListQuery, writeListQuery } from "./list-query.ts";
import type { PagePosition } from "./visited-lists.ts";

export interface ObjectsOfPage extends LoadedPage {
  /** What the objects are the answer to. */
  readonly query: string;
  readonly position: PagePosition;
  /** The first page, in place of one whose cursor the server refused. */
  readonly isFallback: boolean;
}

export interface LoadedPage {
  /** Of the entire list. */
  readonly count?: number;
  readonly listed: readonly ListedObject[];
  /** Cursor of the page after this one. */
  readonly next: string | undefined;
  /** From where its changes can be followed. */
  readonly changesPosition: string | undefined;
}

type Loaded = LoadedPage | { readonly problem: Problem };

export type PageState =
  | { readonly kind: "loading"; readonly before?: ObjectsOfPage }
  | { readonly kind: "page"; readonly page: ObjectsOfPage }
  | { readonly kind: "refused"; readonly problem: Problem; readonly before?: ObjectsOfPage };

export interface ObjectPages {
  readonly state: PageState;
  readonly showFirst: () => void;
  readonly showPrevious: () => void;
  readonly showNext: () => void;
  /** Shows what is stored of one of the objects by now. */
  readonly replace: (stored: ListedObject) => void;
  /** Undefined where another page is on its way, or the server can't answer now. */
  readonly refetch: () => Promise<ReadResult | undefined>;
  /** While cells are edited, rows stay in their places. */
  readonly hold: (isHeld: boolean) => void;
}

const pageSize = 25;

/** `onOthers` is called with the number of objects that somebody else has changed. */
export function useObjectPages(
  { name, maxPageSize }: Resource,
  query: string,
  onOthers: (count: number) => void,
): ObjectPages {
  const { signIn, visited } = useConsole();
  const [state, setState] = useState<PageState>({ kind: "loading" });
  const limit = Math.min(pageSize, maxPageSize);
  const latest = useRef({ state, query });
  latest.current = { state, query };
  const isHeld = useRef(false);
  /** Rows may have come, gone or moved since they were held. */
  const isBehind = useRef(false);
  const list = (of: string) => ({ kind: "list", resource: name, query: of }) as const;
  useEffect(() => {
    const ending = new AbortController();
    setState((state) => {
      const before = state.kind === "page" ? state.page : state.before;
      return { kind: "loading", ...(before !== undefined && { before }) };
    });
    void loadOrFirst(query, (asked) => loadPage(urlOf(name, asked, limit), signIn, ending.signal)).then(
      ({ shown, loaded }) => {
        if (ending.signal.aborted) return;
        const found = { query: shown, position: visited.positionOf(list(shown)), isFallback: shown !== query };
        setState((state) => {
          if (!("problem" in loaded)) return { kind: "page", page: { ...loaded, ...found } };
          // A person who mends a filter sees what the list had before.
          const keeps = loaded.problem.status === 400 && state.kind === "loading" && state.before !== undefined;
          return { kind: "refused", ...loaded, ...(keeps && { before: state.before }) };
        });
      },
    );
    return () => ending.abort();
  }, [name, query, limit, signIn]);
  const page = state.kind === "page" ? state.page : undefined;
  const refetch = async (): Promise<ReadResult | undefined> => {
    const { query: asked, state: before } = latest.current;
    if (before.kind === "loading") return undefined;
    const shown = before.kind === "page" ? before.page.query : asked;
    const loaded = await loadPage(urlOf(name, shown, limit), signIn);
    if (latest.current.query !== asked || mayReadLater(loaded)) return undefined;
    isBehind.current = isHeld.current;
    const position = visited.positionOf(list(shown));
    setState((state) =>
      shownAgain(state, loaded, { query: shown, position, isFallback: shown !== asked }, isHeld.current),
    );
    if ("problem" in loaded) return { position: undefined };
    if (before.kind === "page" && !isHeld.current) onOthers(changesBetween(before.page, loaded));
    return { position: loaded.changesPosition };
  };
  return {
    state,
    showFirst: () => page !== undefined && go(list(withCursor(page.query, undefined))),
    showPrevious: () => page?.position.previous !== undefined && go(list(page.position.previous)),
    showNext: () => {
      if (page?.next === undefined) return;
      const next = list(withCursor(page.query, page.next));
      visited.goOn(list(page.query), next);
      go(next);
    },
    replace: (stored) =>
      setState((state) => {
        if (state.kind !== "page") return state;
        const listed = state.page.listed.map((each) => (each.item.id === stored.item.id ? stored : each));
        return { ...state, page: { ...state.page, listed } };
      }),
    refetch,
    hold: (holds) => {
      isHeld.current = holds;
      if (!holds && isBehind.current) void refetch();
    },
  };
}

/** Objects that came, went or changed. One that only moved to another page is none. */
function changesBetween(before: LoadedPage, now: LoadedPage): number {
  const tags = new Map(before.listed.map(({ item, etag }) => [item.id, etag]));
  const changed = now.listed.filter(({ item, etag }) => tags.has(item.id) && tags.get(item.id) !== etag);
  return changed.length + Math.abs((now.count ?? 0) - (before.count ?? 0));
}

function mayReadLater(loaded: Loaded): boolean {
  return "problem" in loaded && mayRetry(loaded.problem);
}

function shownAgain(
  state: PageState,
  loaded: Loaded,
  found: Pick<ObjectsOfPage, "query" | "position" | "isFallback">,
  isHeld: boolean,
): PageState {
  const before = state.kind === "page" ? state.page : state.before;
  if ("problem" in loaded) return { kind: "refused", ...loaded, ...(before !== undefined && { before }) };
  const page = { ...loaded, ...found };
  if (!isHeld || before === undefined) return { kind: "page", page };
  // Rows that are shown are changed, and none comes, goes or moves.
  const byId = new Map(loaded.listed.map((each) => [each.item.id, each]));
  const listed = before.listed.map((each) => byId.get(each.item.id) ?? each);
  return { kind: "page", page: { ...page, listed } };
}

function withCursor(query: string, cursor: string | undefined): string {
  return writeListQuery({ ...readListQuery(query), cursor });
}

/** The first page where the server refuses the cursor, as of a list in another order. */
async function loadOrFirst(
  query: string,
  load: (query: string) => Promise<Loaded>,
): Promise<{ readonly shown: string; readonly loaded: Loaded }> {
  const loaded = await load(query);
  const isRefused = "problem" in loaded && loaded.problem.status === 400;
  if (!isRefused || readListQuery(query).cursor === undefined) return { shown: query, loaded };
  const shown = withCursor(query, undefined);
  return { shown, loaded: await load(shown) };
}

function urlOf(resource: string, query: string, limit: number): string {
  const parameters = new URLSearchParams(query);
  parameters.set("_limit", String(limit));
  parameters.set("_etags", "true");
  // Empty: pages along cursors, from the first one on.
  if (!parameters.has("_cursor")) parameters.set("_cursor", "");
  return `api/${encodeURIComponent(resource)}?${parameters}`;
}

export async function loadPage(url: string, signIn: SignIn, signal?: AbortSignal): Promise<Loaded> {
  try {
    // Not from the browser's cache, whose position may be too old to follow from.
    const ending = AbortSignal.any([readTimeout(), ...(signal === undefined ? [] : [signal])]);
    const response = await signIn.send(url, { cache: "no-store", signal: ending });
    if (!response.ok) return { problem: await problemOf(response) };
    const { count, items, etags = {}, links } = JSON.parse(await response.text(), keepNumbersExact) as ListAnswer;
    const next = links.next === undefined ? null : new URL(links.next).searchParams.get("_cursor");
    const listed = items.map((item) => ({ item, etag: etags[item.id] }));
    const changesPosition = response.headers.get("Changes-Position") ?? undefined;
    return {
      listed,
      next: next ?? undefined,
      changesPosition,
      ...(count instanceof ExactNumber && { count: Number(count.text) }),
    };
  } catch {
    return { problem: unreachable };
  }
}

interface ListAnswer {
  readonly count?: unknown;
  readonly items: readonly StoredObject[];
  readonly etags?: Readonly<Record<string, string>>;
  readonly links: { readonly next?: string };
}
