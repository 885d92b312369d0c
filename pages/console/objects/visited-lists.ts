// Where a person has been in lists. Cursors lead on and never back, so the page before one is known only while this is kept.

import { fragmentOf, type ListRoute } from "../route.ts";
import { readListQuery } from "./list-query.ts";

export interface PagePosition {
  /** Undefined where the person came by the page's address. */
  readonly pagesBefore: number | undefined;
  /** Query of the page before; undefined where there is none, or none is known. */
  readonly previous: string | undefined;
}

export class VisitedLists {
  readonly #positions = new Map<string, PagePosition>();

  positionOf(list: ListRoute): PagePosition {
    if (readListQuery(list.query).cursor === undefined) return { pagesBefore: 0, previous: undefined };
    return this.#positions.get(fragmentOf(list)) ?? { pagesBefore: undefined, previous: undefined };
  }

  /** The person goes on from a page to the next one. */
  goOn(list: ListRoute, next: ListRoute): void {
    const { pagesBefore } = this.positionOf(list);
    this.#positions.set(fragmentOf(next), {
      pagesBefore: pagesBefore === undefined ? undefined : pagesBefore + 1,
      previous: list.query,
    });
  }
}
