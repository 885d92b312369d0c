// One step of a check of stored objects: validates the next few in order of creation, and adds what
// it found to what was known. Requests are served between two steps, and between two objects that
// go through a patch.

import { setImmediate as otherWork } from "node:timers/promises";
import {
  type CheckFigures,
  type CheckProgress,
  type InvalidObject,
  maxExamples,
} from "../../../core/config/object-check.ts";
import type { ProblemItem } from "../../../core/errors/problem.ts";
import { shortPointer } from "../../../core/json/json-pointer.ts";
import { idIn } from "../../../core/object-id.ts";
import type { ObjectLists } from "../../store/ports/lists.ts";
import type { CollectionRef } from "../../store/ports/refs.ts";
import { type ObjectRules, storedForm } from "../validate-object.ts";

/** What is validated without a break, unless a single object is larger. */
const page = { limit: 50, maxBytes: 64 * 1024, descending: false, counted: false } as const;

export const nothingChecked: CheckFigures = Object.freeze({ checked: 0, invalid: 0, examples: Object.freeze([]) });

export interface CheckStep {
  readonly store: Pick<ObjectLists, "pageAfter">;
  readonly collection: CollectionRef;
  readonly rules: ObjectRules;
}

export type CheckedStep =
  | { readonly isDone: false; readonly figures: CheckProgress; readonly characters: number }
  | { readonly isDone: true; readonly figures: CheckFigures; readonly characters: number };

/** `limit` = objects of this step; fewer than usual where less is wanted. */
export async function checkStep(
  step: CheckStep,
  before: CheckFigures | CheckProgress,
  limit: number = page.limit,
): Promise<CheckedStep> {
  const { texts, next } = await nextPage(step, before, limit);
  let figures = figuresOf(before);
  for (const text of texts) {
    figures = withObject(figures, step.rules, text);
    // A patch may take some 50 ms.
    if (step.rules.migration !== undefined) await otherWork();
  }
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  if (next === undefined) return { isDone: true, figures, characters };
  return { isDone: false, figures: { ...figures, after: next.id }, characters };
}

/** The next few objects after those that `before` counts. */
export async function nextPage(
  { store, collection: { project, resource } }: Omit<CheckStep, "rules">,
  before: CheckFigures | CheckProgress,
  limit: number = page.limit,
) {
  const id = "after" in before ? before.after : "";
  const range = { ...page, limit: Math.min(limit, page.limit), ...(id !== "" && { after: { value: "", id } }) };
  // By its name alone: also what has expired and is still stored, and without the index of expiry.
  const found = await store.pageAfter({ project, resource }, {}, undefined, range);
  if (found.outcome !== "page") throw new Error("A page in order of creation takes no index");
  return found;
}

export function figuresOf({ checked, invalid, examples, migrated }: CheckFigures): CheckFigures {
  return { checked, invalid, examples, ...(migrated !== undefined && { migrated }) };
}

export function withObject(sum: CheckFigures, rules: ObjectRules, text: string): CheckFigures {
  const form = storedForm(rules, text);
  if (form.fault !== undefined) return withInvalid(sum, text, form.fault);
  const { migrated = 0 } = sum;
  return { ...sum, checked: sum.checked + 1, ...(form.text !== text && { migrated: migrated + 1 }) };
}

export function withInvalid(
  sum: CheckFigures,
  text: string,
  { pointer, keyword }: Pick<ProblemItem, "pointer" | "keyword">,
): CheckFigures {
  const example: InvalidObject = { id: idIn(text), pointer: shortPointer(pointer), keyword };
  const examples = sum.examples.length < maxExamples ? [...sum.examples, example] : sum.examples;
  return { ...sum, checked: sum.checked + 1, invalid: sum.invalid + 1, examples };
}
