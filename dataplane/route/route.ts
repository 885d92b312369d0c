// The route table: what the segments below a project's base name, which methods that offers, and
// which operation each method is; and what a target names in the project's configuration. Refuses
// paths that name nothing with 404, before authentication. The compiler refuses a target without
// methods.

import type { Operation, RootKeyConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { LiveProject, LiveResource } from "../config/directory.ts";
import type { Path } from "../store/ports/refs.ts";

export type Target =
  | { readonly kind: "collection"; readonly resource: string }
  | { readonly kind: "object"; readonly resource: string; readonly id: string }
  | { readonly kind: "document"; readonly rootKey: string; readonly path: Path }
  /** Changes of several sources, which the query names. */
  | { readonly kind: "changes" }
  /** Everything that is stored, in one file. */
  | { readonly kind: "export" }
  /** Lines of an export, which are written. */
  | { readonly kind: "import" }
  | { readonly kind: "sessions" }
  | { readonly kind: "refresh" }
  /** `id` = `current` is the session of the caller. */
  | { readonly kind: "session"; readonly id: string }
  | { readonly kind: "whoami" }
  | { readonly kind: "keys" }
  | { readonly kind: "openapi" }
  /** The project's URL itself, which leads browsers to its page. */
  | { readonly kind: "base" }
  /** `file` is what the page needs, absent for the page itself. */
  | { readonly kind: "docs" | "console"; readonly file?: string }
  /** The OpenAPI document for the console; whoever may use the console may read it. */
  | { readonly kind: "consoleDescription" };

/**
 * What a method does to its target: an operation on stored data, which a policy allows or not; or
 * `by_feature`: the feature decides from the caller (sessions, whoami, openapi); or
 * `public`: no Authorization header is read; the feature may still refuse by what the project says.
 */
export type RouteOperation = Operation | "by_feature" | "public";

type Methods = Readonly<Record<string, RouteOperation>>;

const methodTable = {
  collection: { GET: "read", POST: "create" },
  /** Of a resource with unique rules: a PUT names the object by one of them. */
  uniqueCollection: { GET: "read", POST: "create", PUT: "update" },
  object: { GET: "read", PUT: "update", PATCH: "update", DELETE: "delete" },
  documentRoot: { GET: "read", PUT: "update", PATCH: "update" },
  document: { GET: "read", POST: "create", PUT: "update", PATCH: "update", DELETE: "delete" },
  changes: { GET: "by_feature" },
  export: { GET: "by_feature" },
  import: { POST: "by_feature" },
  sessions: { GET: "by_feature", POST: "public" },
  refresh: { POST: "public" },
  session: { GET: "by_feature", DELETE: "by_feature" },
  whoami: { GET: "by_feature" },
  keys: { GET: "public" },
  openapi: { GET: "by_feature" },
  base: { GET: "public" },
  docs: { GET: "public" },
  console: { GET: "public" },
  consoleDescription: { GET: "by_feature" },
} as const satisfies Record<string, Methods>;

function methodsOf(target: Target, resource: LiveResource | undefined): Methods {
  if (target.kind === "collection" && resource?.config.unique !== undefined) return methodTable.uniqueCollection;
  if (target.kind === "document" && target.path.length === 0) return methodTable.documentRoot;
  return methodTable[target.kind];
}

/**
 * What a method does to the target, HEAD being GET; `resource` = the one that it belongs to. Throws
 * `method_not_allowed`.
 */
export function requireOperation(target: Target, method: string, resource?: LiveResource): RouteOperation {
  const name = method === "HEAD" ? "GET" : method;
  const methods = methodsOf(target, resource);
  const operation = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (operation === undefined) throw methodNotAllowed(target, method, resource);
  return operation;
}

function methodNotAllowed(target: Target, method: string, resource: LiveResource | undefined): Problem {
  const allowed = allowedMethods(target, resource).join(", ");
  const rootPost = target.kind === "document" && target.path.length === 0 && method === "POST";
  const detail = rootPost
    ? "POST adds inside the root key's value: name a key to add, or end the path with /- to append to an array"
    : `${method} is not allowed at this path; allowed are ${allowed}`;
  return new Problem("method_not_allowed", detail, { headers: { Allow: allowed } });
}

/** Value of an Allow header. */
export function allowedMethods(target: Target, resource?: LiveResource): readonly string[] {
  return Object.keys(methodsOf(target, resource))
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .concat("OPTIONS");
}

export function isWrite(operation: RouteOperation): boolean {
  return operation === "create" || operation === "update" || operation === "delete";
}

type Segments = readonly string[];

/** Named by one segment. */
const singles: ReadonlyMap<string, Target> = new Map([
  ["changes", { kind: "changes" }],
  ["export", { kind: "export" }],
  ["import", { kind: "import" }],
  ["whoami", { kind: "whoami" }],
  ["openapi.json", { kind: "openapi" }],
]);

/** `segments` are decoded and start below the project's base. */
export function route(segments: Segments): Target {
  const [first = ""] = segments;
  let target = segments.length === 1 ? singles.get(first) : undefined;
  switch (segments[0]) {
    case undefined:
      target = { kind: "base" };
      break;
    case "api":
      target = matchApi(segments);
      break;
    case "json":
      target = matchJson(segments);
      break;
    case "sessions":
      target = matchSessions(segments);
      break;
    case ".well-known":
      if (segments.length === 2 && segments[1] === "jwks.json") target = { kind: "keys" };
      break;
    case "docs":
    case "console":
      target = matchPage(segments[0], segments);
      break;
  }
  if (target !== undefined) return target;
  throw unknownPath();
}

export function unknownPath(): Problem {
  return new Problem(
    "unknown_path",
    "A project serves /api/<resource>, /api/<resource>/<id>, /json/<root_key>/<path>, /changes, /export, /import, /sessions, /whoami, /openapi.json, /docs, /console and /.well-known/jwks.json",
  );
}

function matchPage(kind: "docs" | "console", [, file, ...others]: Segments): Target | undefined {
  if (others.length > 0) return undefined;
  if (kind === "console" && file === "openapi.json") return { kind: "consoleDescription" };
  return file === undefined ? { kind } : { kind, file };
}

function matchApi(segments: Segments): Target | undefined {
  const [, resource, id] = segments;
  if (resource === undefined || segments.length > 3) return undefined;
  return id === undefined ? { kind: "collection", resource } : { kind: "object", resource, id };
}

function matchJson(segments: Segments): Target | undefined {
  const rootKey = segments[1];
  return rootKey === undefined ? undefined : { kind: "document", rootKey, path: segments.slice(2) };
}

function matchSessions(segments: Segments): Target | undefined {
  const id = segments[1];
  if (segments.length > 2) return undefined;
  if (id === undefined) return { kind: "sessions" };
  return id === "refresh" ? { kind: "refresh" } : { kind: "session", id };
}

/** Segments below a resource or root key: an object's id, or where a value stands. */
export function subPathOf(target: Target): readonly string[] {
  if (target.kind === "document") return target.path;
  return target.kind === "object" ? [target.id] : [];
}

type Of<K extends Target["kind"]> = Extract<Target, { kind: K }>;

export type Subject =
  | { readonly kind: "objects"; readonly target: Of<"collection" | "object">; readonly resource: LiveResource }
  | { readonly kind: "document"; readonly target: Of<"document">; readonly rootKey: RootKeyConfig }
  | { readonly kind: "changes"; readonly target: Of<"changes"> }
  | { readonly kind: "transfer"; readonly target: Of<"export" | "import"> }
  | { readonly kind: "session"; readonly target: Of<"sessions" | "refresh" | "session" | "whoami" | "keys"> }
  | {
      readonly kind: "description";
      readonly target: Of<"openapi" | "docs" | "base" | "console" | "consoleDescription">;
    };

export function subjectOf(project: LiveProject, target: Target): Subject {
  switch (target.kind) {
    case "collection":
    case "object": {
      const resource = project.resources.get(target.resource);
      if (!resource) throw new Problem("unknown_resource", "The project has no ApiResource with this name");
      return { kind: "objects", target, resource };
    }
    case "document": {
      const rootKey = project.rootKeys.get(target.rootKey);
      if (!rootKey) throw new Problem("unknown_root_key", "The project has no RootKey with this name");
      return { kind: "document", target, rootKey };
    }
    case "changes":
      return { kind: "changes", target };
    case "export":
    case "import":
      return { kind: "transfer", target };
    case "base":
    case "openapi":
    case "docs":
    case "console":
    case "consoleDescription":
      return { kind: "description", target };
    default:
      return { kind: "session", target };
  }
}
