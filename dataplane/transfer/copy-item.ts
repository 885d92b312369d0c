// Copies one object or value of another Project: without what is to be left out, and as an import
// would write it. Says what became of it; throws what the store throws.

import type { CopyFigures, CopyProgress, NotCopied } from "../../core/config/copy-order.ts";
import { maxNotCopied } from "../../core/config/copy-order.ts";
import { errorCatalogue } from "../../core/errors/catalogue.ts";
import { Problem } from "../../core/errors/problem.ts";
import { shortPointer } from "../../core/json/json-pointer.ts";
import { withoutPath } from "../../core/json/splice.ts";
import { idIn } from "../../core/object-id.ts";
import { type ObjectTarget, objectFor, type ValueTarget, writeObject, writeValue } from "./write-object.ts";

/** `gone`: it has expired. `full`: there is no room for it. */
export type Copied = "copied" | "gone" | "full" | NotCopied;

export async function copyObject(
  target: ObjectTarget,
  text: string,
  omitted: readonly (readonly string[])[],
): Promise<Copied> {
  try {
    const object = objectFor(target, omitted.reduce(withoutPath, text));
    return (await writeObject(target, object, "create")) === "expired" ? "gone" : "copied";
  } catch (error) {
    return copiedAfter(error, { resource: target.collection.resource, id: idIn(text) });
  }
}

export async function copyValue(target: ValueTarget, text: string): Promise<Copied> {
  try {
    await writeValue(target, text, "create");
    return "copied";
  } catch (error) {
    return copiedAfter(error, { rootKey: target.rootKey.key });
  }
}

function copiedAfter(error: unknown, what: Pick<NotCopied, "resource" | "id" | "rootKey">): Copied {
  if (!(error instanceof Problem) || errorCatalogue[error.code].status >= 500) throw error;
  const { code, errors: [first] = [] } = error;
  // Clients may have changed it since it was copied, and what they wrote stays.
  if (code === "object_exists") return "copied";
  if (code === "quota_exceeded") return "full";
  const pointer = first && shortPointer(first.pointer);
  const isOfSchema = code === "validation_failed" && first !== undefined;
  return { ...what, ...(pointer !== undefined && { pointer }), reason: isOfSchema ? first.keyword : code };
}

export function withCopied(before: CopyFigures, all: readonly Copied[]): CopyFigures {
  const refused = all.filter((each) => typeof each === "object");
  return {
    copied: before.copied + all.filter((each) => each === "copied").length,
    refused: before.refused + refused.length,
    examples: [...before.examples, ...refused].slice(0, maxNotCopied),
  };
}

export const nothingCopied: CopyProgress = Object.freeze({ at: 0, copied: 0, refused: 0, examples: Object.freeze([]) });
