// Removes from the project's OpenAPI document the writes that the caller may not do, so that the
// console does not offer them. Reads stay: the server answers them with the reason, or asks people
// to sign in.

import type { Access, Permission, Role } from "../../core/config/types.ts";

/** Undefined: nobody is signed in. */
export type Rights = { readonly role: Role; readonly access: Access } | undefined;

/** As in the metadata of what the caller creates. */
type Creator = { readonly kind: string; readonly name: string };

const writes: ReadonlySet<string> = new Set(["post", "put", "patch", "delete"]);

export function permitted(document: unknown, caller: Rights): unknown {
  const { paths = {}, ...others } = document as { readonly paths?: Readonly<Record<string, object>> };
  const isReadOnly = isServedReadOnly(document);
  const own = Object.entries(paths).map(([path, item]) => {
    const offered = Object.entries(item).filter(
      ([method, operation]) => !writes.has(method) || (!isReadOnly && may(operation, caller, "Write")),
    );
    return [path, Object.fromEntries(offered)];
  });
  return { ...others, paths: Object.fromEntries(own) };
}

export function isServedReadOnly(document: unknown): boolean {
  const { info } = document as { readonly info?: { readonly "x-jsonplane-serving"?: string } };
  return info?.["x-jsonplane-serving"] === "ReadOnly";
}

/**
 * Whether the caller may change this object of a resource whose objects Users change only where
 * they have created them.
 */
function isOwn(object: { readonly _metadata?: object }, caller: (Rights & Creator) | undefined): boolean {
  const { creator, creator_type: kind } = (object._metadata ?? {}) as Readonly<Record<string, unknown>>;
  const { name, kind: own } = caller ?? { name: "anonymous", kind: "anonymous" };
  return caller?.role === "Administrators" || (creator === name && kind === own);
}

/** Whether the scope lets the caller change this object. */
export function isInScope(
  { isOwnOnly }: { readonly isOwnOnly: boolean },
  object: { readonly _metadata?: object },
  caller: (Rights & Creator) | undefined,
): boolean {
  return !isOwnOnly || isOwn(object, caller);
}

/** Whether the caller may do an operation that needs this access. */
export function may(
  operation: { readonly "x-jsonplane-permission"?: Permission },
  caller: Rights,
  needed: Access,
): boolean {
  const { "x-jsonplane-permission": permission = "Anyone" } = operation;
  if (permission === "Anyone") return true;
  if (permission === "Nobody" || caller === undefined || (needed === "Write" && caller.access !== "Write"))
    return false;
  return permission === "Authenticated" || caller.role === "Administrators";
}
