// An order of the operator to remove stored data for good, carried out by a replica: only they ever write data.

import type { ProjectRef } from "./types.ts";

export type PurgeOrder =
  | { readonly what: "resource"; readonly project: ProjectRef; readonly name: string }
  | { readonly what: "rootkey"; readonly project: ProjectRef; readonly name: string };

export function writePurgeOrder(order: PurgeOrder): string {
  return JSON.stringify(order);
}

/** Undefined when the text is no order that this version knows. */
export function readPurgeOrder(text: string): PurgeOrder | undefined {
  const order = parsed(text) as Partial<PurgeOrder> | undefined;
  const known = order?.what === "resource" || order?.what === "rootkey";
  const { namespace, name } = order?.project ?? {};
  if (!known || typeof order.name !== "string" || typeof namespace !== "string" || typeof name !== "string")
    return undefined;
  return { what: order.what, project: { namespace, name }, name: order.name };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Said as "no order" by the caller, who has the text.
    return undefined;
  }
}
