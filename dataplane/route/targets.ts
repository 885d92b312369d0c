// The route table: what a path below a project's base can name, which methods it offers, and which operation each
// method is. A method without an entry here does not exist; a target without an access rule can't be written down.

import type { Operation } from "../../core/config/types.ts";
import type { Path } from "../store/port.ts";

export type Target =
  | { readonly kind: "collection"; readonly resource: string }
  | { readonly kind: "object"; readonly resource: string; readonly id: string }
  | { readonly kind: "document"; readonly rootKey: string; readonly path: Path }
  | { readonly kind: "sessions" }
  | { readonly kind: "refresh" }
  | { readonly kind: "session"; readonly id: string }
  | { readonly kind: "keys" }
  | { readonly kind: "openapi" }
  /** `file` is what the page needs, absent for the page itself. */
  | { readonly kind: "docs"; readonly file?: string };

/**
 * `own`: the target's module decides from the caller (session routes).
 * `public`: anyone, and no Authorization header is looked at.
 */
export type AccessRule = Operation | "own" | "public";

type Methods = Readonly<Record<string, AccessRule>>;

const methodTable = {
  collection: { GET: "read", POST: "create" },
  object: { GET: "read", PUT: "update", PATCH: "update", DELETE: "delete" },
  documentRoot: { GET: "read", PUT: "update", PATCH: "update" },
  document: { GET: "read", POST: "create", PUT: "update", PATCH: "update", DELETE: "delete" },
  sessions: { GET: "own", POST: "public" },
  refresh: { POST: "public" },
  session: { GET: "own", DELETE: "own" },
  keys: { GET: "public" },
  openapi: { GET: "own" },
  docs: { GET: "public" },
} as const satisfies Record<string, Methods>;

function methodsOf(target: Target): Methods {
  if (target.kind === "document" && target.path.length === 0) return methodTable.documentRoot;
  return methodTable[target.kind];
}

/** The access rule of a method, HEAD being GET; undefined when the target does not offer it. */
export function accessRule(target: Target, method: string): AccessRule | undefined {
  const name = method === "HEAD" ? "GET" : method;
  const methods = methodsOf(target);
  return Object.hasOwn(methods, name) ? methods[name] : undefined;
}

/** Value of an Allow header. */
export function allowedMethods(target: Target): readonly string[] {
  return Object.keys(methodsOf(target))
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .concat("OPTIONS");
}

export function isWrite(rule: AccessRule): boolean {
  return rule === "create" || rule === "update" || rule === "delete";
}
