// The objects of a resource, page by page along cursors, filtered and sorted by the server.

import { useEffect, useState } from "preact/hooks";
import { type Problem, problemOf, type SignIn } from "../../sign-in/sign-in.ts";
import type { Resource } from "../description.ts";
import { Fault, unreachable } from "../fault.tsx";
import { fragmentOf } from "../route.ts";
import { go } from "../use-route.ts";
import { FilterBar } from "./filter-bar.tsx";
import { type ListQuery, readListQuery, writeListQuery } from "./list-query.ts";
import { ExactNumber, ObjectTable, type StoredObject } from "./object-table.tsx";

export interface ObjectListProps {
  readonly resource: Resource;
  /** Filters and order. */
  readonly query: string;
  readonly signIn: SignIn;
}

interface Page {
  readonly count?: number;
  readonly items: readonly StoredObject[];
  /** Query of the page behind this one. */
  readonly next: string | undefined;
}

type State =
  | { readonly kind: "loading"; readonly before?: Page }
  | { readonly kind: "page"; readonly page: Page }
  | { readonly kind: "refused"; readonly problem: Problem };

const pageSize = 25;

export function ObjectList({ resource, query, signIn }: ObjectListProps) {
  const [state, setState] = useState<State>({ kind: "loading" });
  /** Queries of the pages up to the one that is shown. */
  const [path, setPath] = useState<readonly string[]>([]);
  const first = firstPage(query, Math.min(pageSize, resource.maxPageSize));
  const shown = path.at(-1) ?? first;
  const { name } = resource;
  useEffect(() => {
    const ending = new AbortController();
    setState((state) => (state.kind === "page" ? { kind: "loading", before: state.page } : { kind: "loading" }));
    void load(`api/${encodeURIComponent(name)}?${shown}`, signIn, ending.signal).then((loaded) => {
      if (!ending.signal.aborted) setState(loaded);
    });
    return () => ending.abort();
  }, [name, shown, signIn]);

  const listQuery = readListQuery(query);
  const show = (change: Partial<ListQuery>): void => {
    setPath([]);
    go({ kind: "list", resource: name, query: writeListQuery({ ...listQuery, ...change }) });
  };
  const page = pageOf(state);
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        {resource.may.create && (
          <a class="button main" href={fragmentOf({ kind: "new", resource: name })}>
            New object
          </a>
        )}
      </div>
      {resource.description !== undefined && <p class="quiet">{resource.description}</p>}
      <FilterBar
        key={query}
        resource={resource}
        conditions={listQuery.conditions}
        onApply={(conditions) => show({ conditions })}
      />
      {state.kind === "refused" && <Fault problem={state.problem} />}
      <p class="quiet" role="status">
        {statusOf(state, path.length, listQuery)}
      </p>
      {page !== undefined && page.items.length > 0 && (
        <ObjectTable resource={resource} items={page.items} sort={listQuery.sort} onSort={(sort) => show({ sort })} />
      )}
      {page !== undefined && (path.length > 0 || page.next !== undefined) && (
        <nav class="actions" aria-label="Pages">
          <button type="button" disabled={path.length === 0} onClick={() => setPath(path.slice(0, -1))}>
            Previous page
          </button>
          <button
            type="button"
            disabled={page.next === undefined}
            onClick={() => page.next !== undefined && setPath([...path, page.next])}
          >
            Next page
          </button>
        </nav>
      )}
    </>
  );
}

function pageOf(state: State): Page | undefined {
  if (state.kind === "page") return state.page;
  return state.kind === "loading" ? state.before : undefined;
}

function statusOf(state: State, pagesBefore: number, { conditions }: ListQuery): string {
  if (state.kind === "loading") return "Loading…";
  if (state.kind === "refused") return "";
  const { count, items } = state.page;
  if (items.length === 0 && pagesBefore === 0) {
    return conditions.length > 0 ? "No object matches the filters." : "There are no objects that you may see.";
  }
  const all = count === 1 ? "1 object" : `${(count ?? items.length).toLocaleString()} objects`;
  return pagesBefore === 0 ? all : `${all}, page ${pagesBefore + 1}`;
}

function firstPage(query: string, limit: number): string {
  const parameters = new URLSearchParams(query);
  parameters.set("_limit", String(limit));
  parameters.set("_cursor", "");
  return parameters.toString();
}

async function load(url: string, signIn: SignIn, signal: AbortSignal): Promise<State> {
  try {
    const response = await signIn.send(url, { signal });
    if (!response.ok) return { kind: "refused", problem: await problemOf(response) };
    const { count, items, links } = JSON.parse(await response.text(), exactNumbers) as ListAnswer;
    const next = links.next === undefined ? undefined : new URL(links.next).search.slice(1);
    return {
      kind: "page",
      page: { items, next, ...(count instanceof ExactNumber && { count: Number(count.text) }) },
    };
  } catch {
    return { kind: "refused", problem: unreachable };
  }
}

interface ListAnswer {
  readonly count?: unknown;
  readonly items: readonly StoredObject[];
  readonly links: { readonly next?: string };
}

/** Browsers that don't say what a number was written as show it as a double. */
function exactNumbers(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" ? new ExactNumber(context?.source ?? String(value)) : value;
}
