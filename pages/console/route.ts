// Which view of the console is shown, as the fragment of the page's URL: it can be linked to, and
// the browser's Back works.

import type { Description } from "./description.ts";

export type Route =
  | { readonly kind: "start" }
  | ListRoute
  | { readonly kind: "new"; readonly resource: string }
  | { readonly kind: "object"; readonly resource: string; readonly id: string }
  | { readonly kind: "rootKey"; readonly rootKey: string };

export interface ListRoute {
  readonly kind: "list";
  readonly resource: string;
  /** Filters, order and page. */
  readonly query: string;
}

export function routeOf(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  const [kind, name, id, ...others] = path.split("/").map(decoded);
  if (name === undefined || name === "" || others.length > 0) return { kind: "start" };
  if (kind === "new" && id === undefined) return { kind, resource: name };
  if (kind === "json" && id === undefined) return { kind: "rootKey", rootKey: name };
  if (kind !== "api") return { kind: "start" };
  return id === undefined ? { kind: "list", resource: name, query } : { kind: "object", resource: name, id };
}

export function fragmentOf(route: Route): string {
  const encode = encodeURIComponent;
  switch (route.kind) {
    case "start":
      return "#/";
    case "list":
      return `#/api/${encode(route.resource)}${route.query === "" ? "" : `?${route.query}`}`;
    case "new":
      return `#/new/${encode(route.resource)}`;
    case "object":
      return `#/api/${encode(route.resource)}/${encode(route.id)}`;
    case "rootKey":
      return `#/json/${encode(route.rootKey)}`;
  }
}

/** Whether the view still has the forms that it had before the project's description changed. */
export function keepsForms(route: Route, before: Description, after: Description): boolean {
  if (route.kind === "start") return true;
  if (route.kind !== "rootKey") {
    const resource = after.resources.find(({ name }) => name === route.resource);
    return resource !== undefined && (route.kind !== "new" || resource.may.create);
  }
  // Each right to a root key has a form of its own.
  const [rights, now] = [before, after].map(({ rootKeys }) => rootKeys.find(({ name }) => name === route.rootKey)?.may);
  return now !== undefined && JSON.stringify(rights) === JSON.stringify(now);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
