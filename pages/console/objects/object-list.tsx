// The objects of a resource, page by page, filtered and sorted by the server.

import { useEffect } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import { useConsole } from "../console-context.ts";
import type { Resource } from "../description.ts";
import { ProblemMessage } from "../problem-message.tsx";
import { fragmentOf } from "../route.ts";
import { go } from "../use-route.ts";
import { ViewHeading } from "../view-heading.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { type ListQuery, readListQuery, writeListQuery } from "./list-query.ts";
import { ObjectTable } from "./object-table.tsx";
import { type ObjectPages, type ObjectsOfPage, type PageState, useObjectPages } from "./use-object-pages.ts";

export interface ObjectListProps {
  readonly resource: Resource;
  /** Filters, order and page. */
  readonly query: string;
}

export function ObjectList({ resource, query }: ObjectListProps) {
  const pages = useObjectPages(resource, query);
  const { visited } = useConsole();
  const { state } = pages;
  const { name } = resource;
  useEffect(() => visited.show({ kind: "list", resource: name, query }), [visited, name, query]);
  const listQuery = readListQuery(query);
  const show = (change: Partial<ListQuery>): void => {
    go({ kind: "list", resource: name, query: writeListQuery({ ...listQuery, cursor: undefined, ...change }) });
  };
  const page = pageOf(state);
  return (
    <>
      <div class="heading">
        <ViewHeading name={name} />
        {resource.may.create && (
          <a class="button main" href={fragmentOf({ kind: "new", resource: name })}>
            New object
          </a>
        )}
      </div>
      {resource.description !== undefined && <p class="quiet">{resource.description}</p>}
      <FilterBar resource={resource} conditions={listQuery.conditions} onApply={(conditions) => show({ conditions })} />
      <ProblemMessage problem={state.kind === "refused" ? state.problem : undefined} />
      <p role="status" class="first-instead">
        {page?.isFallback === true && "The page that the address names is no longer there. This is the first page."}
      </p>
      <p class="quiet" role="status">
        {statusOf(state, listQuery)}
      </p>
      {page !== undefined && page.items.length > 0 && (
        <ObjectTable resource={resource} items={page.items} sort={listQuery.sort} onSort={(sort) => show({ sort })} />
      )}
      {page !== undefined && <PageButtons pages={pages} page={page} />}
    </>
  );
}

function PageButtons({ pages, page }: { readonly pages: ObjectPages; readonly page: ObjectsOfPage }) {
  const { showFirst, showPrevious, showNext } = pages;
  // Those of the page before, while the next one is loaded: a button that disappears for a moment
  // loses the focus.
  const { pagesBefore, previous } = page.position;
  if (pagesBefore === 0 && page.next === undefined) return null;
  const isFirst = pagesBefore === 0;
  const isLost = !isFirst && previous === undefined;
  return (
    <nav class="actions" aria-label="Pages">
      <ActionButton isDisabled={isFirst} onClick={isLost ? showFirst : showPrevious}>
        {isLost ? "First page" : "Previous page"}
      </ActionButton>
      <ActionButton isDisabled={page.next === undefined} onClick={showNext}>
        Next page
      </ActionButton>
    </nav>
  );
}

function pageOf(state: PageState): ObjectsOfPage | undefined {
  if (state.kind === "page") return state.page;
  return state.kind === "loading" ? state.before : undefined;
}

function statusOf(state: PageState, { conditions }: ListQuery): string {
  if (state.kind === "loading") return "Loading…";
  if (state.kind === "refused") return "";
  const { count, items, position } = state.page;
  const { pagesBefore } = position;
  if (items.length === 0 && pagesBefore === 0) {
    return conditions.length > 0
      ? "No object matches the filters."
      : "There are no objects yet, or none that you may see.";
  }
  const all = count === 1 ? "1 object" : `${(count ?? items.length).toLocaleString()} objects`;
  if (pagesBefore === 0) return all;
  return `${all}, ${pagesBefore === undefined ? "a page after the first" : `page ${pagesBefore + 1}`}`;
}
