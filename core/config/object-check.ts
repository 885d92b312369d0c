// An order of the operator to check the stored objects of a resource against its schema, and what a
// replica says of it. None of it has values of an object.

import { createHash } from "node:crypto";
import { parseOrUndefined } from "../json/parse-or-undefined.ts";
import { canonical } from "./canonical.ts";
import { checkingLockKey, checkProgressKey } from "./config-keys.ts";
import type { OrderKind } from "./order-kind.ts";
import type { JsonObject, ProjectRef } from "./types.ts";

export interface CheckOrder {
  readonly project: ProjectRef;
  readonly resource: string;
  /** Of the resource's object. */
  readonly uid: string;
  /** Of the schema to check against: another one needs another order. */
  readonly schema: string;
  /** Set where that is `nextSchema` of the resource, and not its schema. */
  readonly isNext?: true;
  /** Set where it has been refused, and is not binding for writes: is it worth another try? */
  readonly isProbe?: true;
  /** metadata.generation of the object when it was ordered. */
  readonly generation: number;
}

/** A stored object that does not meet the schema. */
export interface InvalidObject {
  readonly id: string;
  /** RFC 6901 pointer to the first place that does not. */
  readonly pointer: string;
  readonly keyword: string;
}

/** What a check has found so far. */
export interface CheckFigures {
  readonly checked: number;
  readonly invalid: number;
  /** The first ones of these, at most `maxExamples`. */
  readonly examples: readonly InvalidObject[];
}

/** `after` = id of the object that was checked last. */
export type CheckProgress = CheckFigures & { readonly after: string };

/** `endedAt` in Unix milliseconds. */
export type CheckResult = CheckFigures & { readonly endedAt: number };

export const maxExamples = 5;

/** How many of how many "don't meet", before what. */
export function describeInvalid({ checked, invalid }: Pick<CheckFigures, "checked" | "invalid">): string {
  return `${invalid} of ${checked} stored objects ${invalid === 1 ? "doesn't" : "don't"} meet`;
}

/** The first example, to be added to a sentence; empty where there is none. */
export function describeExample({ examples: [example] = [] }: Partial<Pick<CheckFigures, "examples">>): string {
  return example === undefined ? "" : `, such as ${example.id} at ${example.pointer || "/"} (${example.keyword})`;
}

/** Equal for schemas that differ only in the order of members. */
export function schemaDigest(schema: JsonObject): string {
  return createHash("sha256").update(canonical(schema)).digest("hex").slice(0, 32);
}

const what = "check";

export const objectChecks: OrderKind<CheckOrder, CheckProgress, CheckResult> = {
  what,
  progressKey: checkProgressKey,
  lockKey: checkingLockKey,
  write: (order) => JSON.stringify({ what, ...order }),
  read(text) {
    const read = parseOrUndefined(text) as (Partial<CheckOrder> & { readonly what?: unknown }) | null | undefined;
    if (read?.what !== what) return undefined;
    const { project, resource, uid, schema, isNext, isProbe, generation } = read;
    const names = [project?.namespace, project?.name, resource, uid, schema];
    if (project === undefined || names.some((name) => typeof name !== "string")) return undefined;
    const kind = { ...(isNext === true && { isNext }), ...(isProbe === true && { isProbe }) };
    return { project, resource, uid, schema, generation, ...kind } as CheckOrder;
  },
  /** Where it can't be read, the check begins anew. */
  readProgress(text) {
    const read = parseOrUndefined(text) as Partial<CheckProgress> | null | undefined;
    return typeof read?.after === "string" && hasFigures(read) ? (read as CheckProgress) : undefined;
  },
  readResult(text) {
    const read = parseOrUndefined(text) as Partial<CheckResult> | null | undefined;
    return typeof read?.endedAt === "number" && hasFigures(read) ? (read as CheckResult) : undefined;
  },
};

function hasFigures({ checked, invalid, examples }: Partial<CheckFigures>): boolean {
  return typeof checked === "number" && typeof invalid === "number" && Array.isArray(examples);
}
