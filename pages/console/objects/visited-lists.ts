// Where a person has been in lists: the way back from an object, and from a page to the one before,
// to which no cursor leads.

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
  /** By resource. */
  readonly #latest = new Map<string, ListRoute>();
  #done = "";

  /** What was done in the view that the person leaves: the next view says so. */
  leaveWith(done: string): void {
    this.#done = done;
  }

  takeDone(): string {
    const done = this.#done;
    this.#done = "";
    return done;
  }

  show(list: ListRoute): void {
    this.#latest.set(list.resource, list);
  }

  /** The list with the filters, the order and the page that were shown last. */
  latestOf(resource: string): ListRoute {
    return this.#latest.get(resource) ?? { kind: "list", resource, query: "" };
  }

  positionOf(list: ListRoute): PagePosition {
    if (readListQuery(list.query).cursor === undefined) return { pagesBefore: 0, previous: undefined };
    return this.#positions.get(fragmentOf(list)) ?? { pagesBefore: undefined, previous: undefined };
  }

  /** The person continues to the next page. */
  goOn(list: ListRoute, next: ListRoute): void {
    const { pagesBefore } = this.positionOf(list);
    this.#positions.set(fragmentOf(next), {
      pagesBefore: pagesBefore === undefined ? undefined : pagesBefore + 1,
      previous: list.query,
    });
  }
}
