// An order of the operator about stored data, which only replicas reach: to remove them, or to
// measure what is retained without being served.

import { parseOrUndefined } from "../json/parse-or-undefined.ts";
import type { ProjectRef } from "./types.ts";

interface Named {
  readonly project: ProjectRef;
  readonly name: string;
}

export type PurgeOrder =
  | ({ readonly what: "resource" } & Named)
  | ({ readonly what: "rootkey" } & Named)
  /** Only data of the Project with this UID: another Project may have its name. */
  | { readonly what: "sessions"; readonly project: ProjectRef; readonly projectUid: string };

export interface SizeOrder extends Named {
  readonly what: "size";
  readonly of: "resource" | "rootkey";
}

export type DataOrder = PurgeOrder | SizeOrder;

/** What a replica answers to a SizeOrder. */
export interface KeptSize {
  /** Objects of a collection; 0 of a root key. */
  readonly objects: number;
  /** Bytes of the stored JSON, as a quota counts them. */
  readonly bytes: number;
}

export function writeDataOrder(order: DataOrder): string {
  return JSON.stringify(order);
}

/** Undefined when the text is no order that this version knows. */
export function readDataOrder(text: string): DataOrder | undefined {
  const order = parseOrUndefined(text) as Partial<Record<"what" | "of" | "name" | "projectUid", unknown>> & {
    readonly project?: unknown;
  };
  const project = projectOf(order?.project);
  if (project === undefined) return undefined;
  const { what, of, name, projectUid } = order;
  if (what === "sessions" && typeof projectUid === "string") return { what, project, projectUid };
  if (typeof name !== "string") return undefined;
  if (what === "resource" || what === "rootkey") return { what, project, name };
  if (what === "size" && (of === "resource" || of === "rootkey")) return { what, of, project, name };
  return undefined;
}

export function writeKeptSize({ objects, bytes }: KeptSize): string {
  return JSON.stringify({ objects, bytes });
}

/** Undefined when the text is the answer to another order. */
export function readKeptSize(text: string): KeptSize | undefined {
  const { objects, bytes } = (parseOrUndefined(text) ?? {}) as Partial<Record<keyof KeptSize, unknown>>;
  return typeof objects === "number" && typeof bytes === "number" ? { objects, bytes } : undefined;
}

function projectOf(value: unknown): ProjectRef | undefined {
  const { namespace, name } = (value ?? {}) as Partial<Record<keyof ProjectRef, unknown>>;
  return typeof namespace === "string" && typeof name === "string" ? { namespace, name } : undefined;
}
