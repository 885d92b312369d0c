// An order of the operator to remove stored data, which only replicas reach.

import { parseOrUndefined } from "../json/parse-or-undefined.ts";
import type { ProjectRef } from "./types.ts";

export type PurgeOrder =
  | { readonly what: "resource" | "rootkey"; readonly project: ProjectRef; readonly name: string }
  /** Only data of the Project with this UID: another Project may have its name. */
  | { readonly what: "sessions"; readonly project: ProjectRef; readonly projectUid: string };

export function writePurgeOrder(order: PurgeOrder): string {
  return JSON.stringify(order);
}

/** Undefined when the text is no order that this version knows. */
export function readPurgeOrder(text: string): PurgeOrder | undefined {
  const order = parseOrUndefined(text) as Partial<Record<"what" | "name" | "projectUid", unknown>> & {
    readonly project?: unknown;
  };
  const project = projectOf(order?.project);
  if (project === undefined) return undefined;
  const { what, name, projectUid } = order;
  if (what === "sessions" && typeof projectUid === "string") return { what, project, projectUid };
  if ((what === "resource" || what === "rootkey") && typeof name === "string") return { what, project, name };
  return undefined;
}

function projectOf(value: unknown): ProjectRef | undefined {
  const { namespace, name } = (value ?? {}) as Partial<Record<keyof ProjectRef, unknown>>;
  return typeof namespace === "string" && typeof name === "string" ? { namespace, name } : undefined;
}
