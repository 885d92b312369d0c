// Which part of the console is shown, as the fragment of the page's URL: so a part can be linked to, and the browser's Back works.

export type Route =
  | { readonly kind: "start" }
  | { readonly kind: "list"; readonly resource: string; readonly query: string }
  | { readonly kind: "new"; readonly resource: string }
  | { readonly kind: "object"; readonly resource: string; readonly id: string }
  | { readonly kind: "rootKey"; readonly rootKey: string };

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

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
