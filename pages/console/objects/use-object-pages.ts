// The pages of a list, one at a time along its cursors. An answer for a page that is no longer wanted is dropped.

import { useEffect, useState } from "preact/hooks";
import { type Problem, problemOf } from "../../sign-in/problem.ts";
import type { SignIn } from "../../sign-in/sign-in.ts";
import { useConsole } from "../console-context.ts";
import { unreachable } from "../describe-problem.ts";
import type { Resource } from "../description.ts";
import { ExactNumber, keepNumbersExact } from "./exact-number.ts";
import type { StoredObject } from "./object-table.tsx";

export interface ObjectsOfPage {
  readonly pagesBefore: number;
  /** Of the whole list. */
  readonly count?: number;
  readonly items: readonly StoredObject[];
  /** Query of the page after this one. */
  readonly next: string | undefined;
}

export type PageState =
  | { readonly kind: "loading"; readonly before?: ObjectsOfPage }
  | { readonly kind: "page"; readonly page: ObjectsOfPage }
  | { readonly kind: "refused"; readonly problem: Problem };

export interface ObjectPages {
  readonly state: PageState;
  readonly showFirst: () => void;
  readonly showPrevious: () => void;
  readonly showNext: () => void;
}

const pageSize = 25;

export function useObjectPages({ name, maxPageSize }: Resource, query: string): ObjectPages {
  const { signIn } = useConsole();
  const [state, setState] = useState<PageState>({ kind: "loading" });
  /** Queries of the pages up to the one that is shown. */
  const [path, setPath] = useState<readonly string[]>([]);
  const shown = path.at(-1) ?? firstPage(query, Math.min(pageSize, maxPageSize));
  useEffect(() => {
    const ending = new AbortController();
    setState((state) => (state.kind === "page" ? { kind: "loading", before: state.page } : { kind: "loading" }));
    const pagesBefore = path.length;
    void load(`api/${encodeURIComponent(name)}?${shown}`, signIn, ending.signal).then((loaded) => {
      if (ending.signal.aborted) return;
      setState(
        "problem" in loaded ? { kind: "refused", ...loaded } : { kind: "page", page: { ...loaded, pagesBefore } },
      );
    });
    return () => ending.abort();
  }, [name, shown, signIn]);
  const next = state.kind === "page" ? state.page.next : undefined;
  return {
    state,
    showFirst: () => setPath([]),
    showPrevious: () => setPath(path.slice(0, -1)),
    showNext: () => next !== undefined && setPath([...path, next]),
  };
}

function firstPage(query: string, limit: number): string {
  const parameters = new URLSearchParams(query);
  parameters.set("_limit", String(limit));
  parameters.set("_cursor", "");
  return parameters.toString();
}

async function load(
  url: string,
  signIn: SignIn,
  signal: AbortSignal,
): Promise<Omit<ObjectsOfPage, "pagesBefore"> | { readonly problem: Problem }> {
  try {
    const response = await signIn.send(url, { signal });
    if (!response.ok) return { problem: await problemOf(response) };
    const { count, items, links } = JSON.parse(await response.text(), keepNumbersExact) as ListAnswer;
    const next = links.next === undefined ? undefined : new URL(links.next).search.slice(1);
    return { items, next, ...(count instanceof ExactNumber && { count: Number(count.text) }) };
  } catch {
    return { problem: unreachable };
  }
}

interface ListAnswer {
  readonly count?: unknown;
  readonly items: readonly StoredObject[];
  readonly links: { readonly next?: string };
}
