// The page of a list that the address names. An answer for a page that is no longer wanted is
// dropped.

import { useEffect, useState } from "preact/hooks";
import { type Problem, problemOf } from "../../sign-in/problem.ts";
import type { SignIn } from "../../sign-in/sign-in.ts";
import { useConsole } from "../console-context.ts";
import { unreachable } from "../describe-problem.ts";
import type { Resource } from "../description.ts";
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
}

const pageSize = 25;

export function useObjectPages({ name, maxPageSize }: Resource, query: string): ObjectPages {
  const { signIn, visited } = useConsole();
  const [state, setState] = useState<PageState>({ kind: "loading" });
  const limit = Math.min(pageSize, maxPageSize);
  const list = (of: string) => ({ kind: "list", resource: name, query: of }) as const;
  useEffect(() => {
    const ending = new AbortController();
    setState((state) => {
      const before = state.kind === "page" ? state.page : state.before;
      return { kind: "loading", ...(before !== undefined && { before }) };
    });
    const load = (asked: string) => loadPage(urlOf(name, asked, limit), signIn, ending.signal);
    void loadOrFirst(query, load).then(({ shown, loaded }) => {
      if (ending.signal.aborted) return;
      const found = { query: shown, position: visited.positionOf(list(shown)), isFallback: shown !== query };
      setState((state) => {
        if (!("problem" in loaded)) return { kind: "page", page: { ...loaded, ...found } };
        // A person who mends a filter sees what the list had before.
        const keeps = loaded.problem.status === 400 && state.kind === "loading" && state.before !== undefined;
        return { kind: "refused", ...loaded, ...(keeps && { before: state.before }) };
      });
    });
    return () => ending.abort();
  }, [name, query, limit, signIn]);
  const page = state.kind === "page" ? state.page : undefined;
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
  };
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

export async function loadPage(url: string, signIn: SignIn, signal: AbortSignal): Promise<Loaded> {
  try {
    const response = await signIn.send(url, { signal });
    if (!response.ok) return { problem: await problemOf(response) };
    const { count, items, etags = {}, links } = JSON.parse(await response.text(), keepNumbersExact) as ListAnswer;
    const next = links.next === undefined ? null : new URL(links.next).searchParams.get("_cursor");
    const listed = items.map((item) => ({ item, etag: etags[item.id] }));
    return { listed, next: next ?? undefined, ...(count instanceof ExactNumber && { count: Number(count.text) }) };
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
