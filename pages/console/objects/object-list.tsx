// The objects of a resource, page by page, filtered and sorted by the server.

import { useEffect, useState } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import { useConsole } from "../console-context.ts";
import type { Resource } from "../description.ts";
import type { ReadResult } from "../live/follow-changes.ts";
import { useLive } from "../live/use-live.ts";
import { useNews } from "../live/use-news.ts";
import { isInScope } from "../permitted.ts";
import { ProblemMessage } from "../problem-message.tsx";
import { fragmentOf } from "../route.ts";
import { go } from "../use-route.ts";
import { ViewHeading } from "../view-heading.tsx";
import type { ListedObject } from "./columns.ts";
import { CsvDownload } from "./csv-download.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { type ListQuery, readListQuery, writeListQuery } from "./list-query.ts";
import { countOf, singularOf } from "./names.ts";
import { ObjectTable } from "./object-table.tsx";
import { type ObjectPages, type ObjectsOfPage, type PageState, useObjectPages } from "./use-object-pages.ts";

export interface ObjectListProps {
  readonly resource: Resource;
  /** Filters, order and page. */
  readonly query: string;
}

export function ObjectList({ resource, query }: ObjectListProps) {
  const { visited, signIn } = useConsole();
  const news = useNews();
  const pages = useObjectPages(resource, query, news.add);
  const { state } = pages;
  const { name } = resource;
  const [isEditing, setEditing] = useState(false);
  /** On the way to this list. */
  const [done] = useState(() => ({ words: visited.takeDone(), query }));
  useEffect(() => visited.show({ kind: "list", resource: name, query }), [visited, name, query]);
  const listQuery = readListQuery(query);
  const show = (change: Partial<ListQuery>): void => {
    go({ kind: "list", resource: name, query: writeListQuery({ ...listQuery, cursor: undefined, ...change }) });
  };
  const page = pageOf(state);
  const live = useLive({
    url: `api/${encodeURIComponent(name)}?${watchedQuery(listQuery)}`,
    loaded: loadedIn(state),
    described: resource,
    refetch: pages.refetch,
    isCurrent: ({ id, etag }) => page?.listed.some((each) => each.item.id === id && each.etag === etag) === true,
  });
  const mayEdit = (object: ListedObject) => isInScope(resource, object.item, signIn.credential?.caller);
  const hasNone = page !== undefined && isEmpty(page, listQuery);
  return (
    <>
      <div class="heading">
        <ViewHeading name={name} live={live} />
        {resource.may.create && !hasNone && <NewLink name={name} />}
      </div>
      {resource.description !== undefined && <p class="quiet">{resource.description}</p>}
      <FilterBar resource={resource} conditions={listQuery.conditions} onApply={(conditions) => show({ conditions })} />
      <ProblemMessage problem={state.kind === "refused" ? state.problem : undefined} />
      <p role="status" class="first-instead">
        {page?.isFallback === true && "The page that the address names is no longer there. This is the first page."}
      </p>
      <div class="heading">
        <div class="counts">
          <p class="quiet" role="status">
            {done.query === query && done.words} {statusOf(state, name, listQuery)}
          </p>
          <p class="news" role="status">
            {news.text}
          </p>
        </div>
        {page?.listed.some(mayEdit) && resource.may.update && (
          <button type="button" aria-pressed={isEditing} onClick={() => setEditing(!isEditing)}>
            Edit cells
          </button>
        )}
      </div>
      {page !== undefined && page.listed.length > 0 && (
        <ObjectTable
          resource={resource}
          listed={page.listed}
          sort={listQuery.sort}
          isEditing={isEditing}
          onSort={(sort) => show({ sort })}
          onStored={pages.replace}
          onHold={pages.hold}
        />
      )}
      {page?.listed.length === 0 && listQuery.conditions.length > 0 && (
        <ActionButton onClick={() => show({ conditions: [] })}>Show all {name}</ActionButton>
      )}
      {resource.may.create && hasNone && <NewLink name={name} />}
      {page !== undefined && <PageButtons pages={pages} page={page} />}
      {page !== undefined && page.listed.length > 0 && <CsvDownload resource={resource} query={listQuery} />}
    </>
  );
}

function NewLink({ name }: { readonly name: string }) {
  return (
    <a class="button main" href={fragmentOf({ kind: "new", resource: name })}>
      New {singularOf(name)}
    </a>
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

/** The stream says which objects have changed, and nothing of what is in them. */
function watchedQuery({ conditions }: ListQuery): string {
  const filters = writeListQuery({ conditions, sort: undefined, cursor: undefined });
  return filters === "" ? "_fields=id" : `${filters}&_fields=id`;
}

function loadedIn(state: PageState): ReadResult | undefined {
  if (state.kind === "loading") return undefined;
  return { position: state.kind === "page" ? state.page.changesPosition : undefined };
}

function pageOf(state: PageState): ObjectsOfPage | undefined {
  if (state.kind === "page") return state.page;
  return state.before;
}

function statusOf(state: PageState, name: string, query: ListQuery): string {
  if (state.kind === "loading") return "Loading…";
  if (state.kind === "refused") return "";
  const { page } = state;
  if (isEmpty(page, query)) return `No ${name} yet.`;
  const { pagesBefore } = page.position;
  if (page.listed.length === 0 && pagesBefore === 0) {
    const isText = query.conditions.some(({ value }) => /\p{L}/u.test(value));
    return `No ${name} match the filters.${isText ? " Capital and small letters differ." : ""}`;
  }
  const { count = page.listed.length } = page;
  const all = countOf(count, name);
  if (pagesBefore === 0 && page.next === undefined) return all;
  return `${all}, ${pagesBefore === undefined ? "a page after the first" : `page ${pagesBefore + 1}`}`;
}

function isEmpty({ listed, position }: ObjectsOfPage, { conditions }: ListQuery): boolean {
  return listed.length === 0 && position.pagesBefore === 0 && conditions.length === 0;
}
