// One step of a check of stored objects: validates the next few in order of creation, and adds what
// it found to what was known. Requests are served between two steps.

import { type CheckFigures, type CheckProgress, maxExamples } from "../../../core/config/object-check.ts";
import type { CompiledSchema } from "../../../core/schema/compile-schema.ts";
import type { ObjectLists } from "../../store/ports/lists.ts";
import { idIn } from "../../store/ports/objects.ts";
import type { CollectionRef } from "../../store/ports/refs.ts";
import { faultsOfStored } from "../validate-object.ts";

/** What is validated without a break, unless a single object is larger. */
const page = { limit: 50, maxBytes: 64 * 1024, descending: false, counted: false } as const;
/** Characters of a pointer in an example, as a status takes them: names of members may be long. */
const maxCharacters = 256;

export const nothingChecked: CheckFigures = Object.freeze({ checked: 0, invalid: 0, examples: Object.freeze([]) });

export interface CheckStep {
  readonly store: Pick<ObjectLists, "pageAfter">;
  readonly collection: CollectionRef;
  readonly schema: CompiledSchema;
}

export type CheckedStep =
  | { readonly isDone: false; readonly figures: CheckProgress; readonly characters: number }
  | { readonly isDone: true; readonly figures: CheckFigures; readonly characters: number };

/** `limit` = objects of this step; fewer than usual where less is wanted. */
export async function checkStep(
  { store, collection: { project, resource }, schema }: CheckStep,
  before: CheckFigures | CheckProgress,
  limit: number = page.limit,
): Promise<CheckedStep> {
  const after = "after" in before ? { after: { value: "", id: before.after } } : {};
  const range = { ...page, limit: Math.min(limit, page.limit), ...after };
  // By its name alone: also what has expired and is still stored, and without the index of expiry.
  const found = await store.pageAfter({ project, resource }, {}, undefined, range);
  if (found.outcome !== "page") throw new Error("A page in order of creation takes no index");
  const figures = found.texts.reduce((sum, text) => withObject(sum, schema, text), figuresOf(before));
  const characters = found.texts.reduce((sum, { length }) => sum + length, 0);
  if (found.next === undefined) return { isDone: true, figures, characters };
  return { isDone: false, figures: { ...figures, after: found.next.id }, characters };
}

function figuresOf({ checked, invalid, examples }: CheckFigures): CheckFigures {
  return { checked, invalid, examples };
}

export function withObject(sum: CheckFigures, schema: CompiledSchema, text: string): CheckFigures {
  const checked = sum.checked + 1;
  const [fault] = faultsOfStored(schema, text);
  if (fault === undefined) return { ...sum, checked };
  const { pointer, keyword } = fault;
  const example = { id: idIn(text), pointer: pointer.slice(0, maxCharacters).toWellFormed(), keyword };
  const examples = sum.examples.length < maxExamples ? [...sum.examples, example] : sum.examples;
  return { checked, invalid: sum.invalid + 1, examples };
}
