// Brings stored objects into the form that a schema wants which is not live yet, once a check has
// found that all of them can have it. Each is replaced as an update does it, and only while it is
// what was read. What is written meanwhile has that form already, so one pass finds all. An object
// that can't be replaced ends it.

import type { CheckFigures, CheckProgress, CheckStage } from "../../../core/config/object-check.ts";
import { Problem } from "../../../core/errors/problem.ts";
import { idIn } from "../../../core/object-id.ts";
import type { ObjectReads, ObjectWrites, StoredObject } from "../../store/ports/objects.ts";
import { storedForm } from "../validate-object.ts";
import { ownerOfStored } from "../write.ts";
import {
  type CheckedStep,
  type CheckStep,
  checkStep,
  figuresOf,
  nextPage,
  nothingChecked,
  withInvalid,
} from "./check-step.ts";

export interface MigrateStep extends CheckStep {
  readonly store: CheckStep["store"] & Pick<ObjectReads, "read">;
  /** Within the project's quota. */
  readonly writes: Pick<ObjectWrites, "replace">;
}

/**
 * The steps of a check, and of what follows from a final one, which ends with a pass that finds
 * nothing to replace: a failover may have lost what was replaced.
 */
export function stepsOf(
  step: MigrateStep,
  stage: CheckStage,
): (before: CheckProgress | undefined) => Promise<CheckedStep> {
  return async (before) => {
    if (before?.rewrites === true) {
      return afterRewriting(await migrateStep(step, before), before.replaced);
    }
    return afterCheck(await checkStep(step, before ?? nothingChecked), stage, before?.replaced);
  };
}

/** `replaced` = how many objects were, before this pass. One that replaces none is the last. */
function afterRewriting(rewritten: CheckedStep, replaced = 0): CheckedStep {
  const { figures, isDone, characters } = rewritten;
  if (!isDone) return { isDone, figures: { ...figures, replaced }, characters };
  const { invalid, migrated = 0 } = figures;
  return invalid > 0 || migrated === replaced ? rewritten : anew(rewritten, { replaced: migrated });
}

/** `replaced` = how many objects were, before this check. */
function afterCheck(checked: CheckedStep, stage: CheckStage, replaced: number | undefined): CheckedStep {
  const { figures, isDone, characters } = checked;
  const before = replaced !== undefined && { replaced };
  if (!isDone) return { isDone, figures: { ...figures, ...before }, characters };
  const total = replaced !== undefined && { migrated: replaced };
  const isToRewrite = stage === "final" && figures.invalid === 0 && figures.migrated !== undefined;
  return isToRewrite
    ? anew(checked, { rewrites: true, ...total, ...before })
    : { ...checked, figures: { ...figures, ...total } };
}

function anew({ characters }: CheckedStep, more: Partial<CheckProgress>): CheckedStep {
  return { isDone: false, figures: { ...nothingChecked, after: "", ...more }, characters };
}

async function migrateStep(step: MigrateStep, before: CheckFigures | CheckProgress): Promise<CheckedStep> {
  const { texts, next } = await nextPage(step, before);
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  let figures = figuresOf(before);
  for (const text of texts) {
    const { migrated = 0 } = figures;
    const outcome = await migrate(step, { text });
    if (typeof outcome === "object") return { isDone: true, figures: withInvalid(figures, text, outcome), characters };
    figures = { ...figures, checked: figures.checked + 1, ...(outcome === "migrated" && { migrated: migrated + 1 }) };
  }
  if (next === undefined) return { isDone: true, figures, characters };
  return { isDone: false, figures: { ...figures, after: next.id, rewrites: true }, characters };
}

/** Why an object can't be replaced. */
interface Fault {
  readonly pointer: string;
  readonly keyword: string;
}

async function migrate(step: MigrateStep, found: StoredObject): Promise<"migrated" | "left" | Fault> {
  const { store, writes, collection, rules } = step;
  const { fault, text } = storedForm(rules, found.text);
  if (fault !== undefined) return fault;
  if (text === found.text) return "left";
  const id = idIn(text);
  const replaced = await refusing(() => writes.replace(collection, { id, owner: ownerOfStored(found), text }, found));
  switch (replaced.outcome) {
    case "replaced":
      return "migrated";
    case "not_found":
      return "left";
    case "conflict": {
      const now = await store.read(collection, id, {});
      return now === undefined ? "left" : await migrate(step, now);
    }
    default:
      return { pointer: "", keyword: replaced.outcome };
  }
}

/** A quota refuses what the patch makes larger. */
async function refusing<T>(write: () => Promise<T>): Promise<T | { readonly outcome: "quota_exceeded" }> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Problem && error.code === "quota_exceeded") return { outcome: error.code };
    throw error;
  }
}
