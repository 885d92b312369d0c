// Removes from the project's OpenAPI document the writes that the caller may not do, so that the
// console does not offer them. Reads stay: the server answers them with the reason, or asks people
// to sign in. Which objects a caller may change, by `scope`, only the server knows.

import type { Access, Permission, Role } from "../../core/config/types.ts";

/** Undefined: nobody is signed in. */
export type Rights = { readonly role: Role; readonly access: Access } | undefined;

const writes: ReadonlySet<string> = new Set(["post", "put", "patch", "delete"]);

export function permitted(document: unknown, caller: Rights): unknown {
  const { paths = {}, ...others } = document as { readonly paths?: Readonly<Record<string, object>> };
  const own = Object.entries(paths).map(([path, item]) => {
    const offered = Object.entries(item).filter(([method, operation]) => !writes.has(method) || may(operation, caller));
    return [path, Object.fromEntries(offered)];
  });
  return { ...others, paths: Object.fromEntries(own) };
}

/** Whether the caller may do an operation that changes something. */
function may(operation: { readonly "x-jsonplane-permission"?: Permission }, caller: Rights): boolean {
  const { "x-jsonplane-permission": permission = "Anyone" } = operation;
  if (permission === "Anyone") return true;
  if (permission === "Nobody" || caller?.access !== "Write") return false;
  return permission === "Authenticated" || caller.role === "Administrators";
}
