// An order of the operator to check the stored objects of a resource against its schema, and what a
// replica says of it. None of it has values of an object.

import { checkingLockKey, checkProgressKey } from "./config-keys.ts";
import { orderKind } from "./order-kind.ts";
import type { ProjectRef } from "./types.ts";

/**
 * What is checked against: the schema of the resource, or its `nextSchema`, which writes have to
 * meet as well (`final`) or not (`look`).
 */
export type CheckStage = "live" | "look" | "final";

export interface CheckOrder {
  readonly project: ProjectRef;
  readonly resource: string;
  /** Of the resource's object. */
  readonly uid: string;
  /** Of the schema to check against: another one needs another order. */
  readonly schema: string;
  /** Likewise of the patch that objects go through first; absent = none. */
  readonly migration?: string;
  readonly stage: CheckStage;
  /** Of a schema that was refused: what was found then, which stands until this has ended. */
  readonly before?: CheckResult;
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
  /** How many of the others met the schema only by way of the patch; absent = none. */
  readonly migrated?: number;
}

/**
 * `after` = id of the object that was checked last, empty before the first. `rewrites`: all were
 * checked, and those that the patch is for are being replaced. `replaced`: how many were, before
 * all are checked again.
 */
export type CheckProgress = CheckFigures & {
  readonly after: string;
  readonly rewrites?: true;
  readonly replaced?: number;
};

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

export const objectChecks = orderKind<CheckOrder, CheckProgress, CheckResult>({
  what: "check",
  progressKey: checkProgressKey,
  lockKey: checkingLockKey,
  isOrder: ({ resource, uid, schema, stage }) =>
    [resource, uid, schema, stage].every((name) => typeof name === "string"),
  isProgress: (read) => typeof read.after === "string" && hasFigures(read),
  isResult: hasFigures,
});

function hasFigures({ checked, invalid, examples }: Partial<CheckFigures>): boolean {
  return typeof checked === "number" && typeof invalid === "number" && Array.isArray(examples);
}
