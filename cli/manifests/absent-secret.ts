// Says why a Secret that a ProjectUser names was not found: it has no manifest, or its manifest is
// refused.

import type { Json } from "../../core/config/types.ts";
import { valueAtPointer } from "../../core/json/json-pointer.ts";
import type { Refused } from "../../operator/model/verdict.ts";
import type { SourceProblem } from "./source.ts";

export interface AbsentSecret {
  readonly pointer: string;
  /** `<namespace>/<name>` */
  readonly key: string;
  /** Why there is no such Secret although there is a manifest of it. */
  readonly refused?: string;
}

/** Undefined where the verdict is about something else. `problems` are those of reading. */
export function absentSecret(
  { reason, faults: [fault], namespace }: Refused,
  object: Json,
  problems: readonly SourceProblem[],
): AbsentSecret | undefined {
  const { pointer } = fault;
  if (reason !== "SecretNotFound" || pointer !== "/spec/passwordSecretRef/name") return undefined;
  const key = `${namespace}/${String(valueAtPointer(object, pointer))}`;
  if (!problems.some(({ subject }) => subject === `Secret/${key}`)) return { pointer, key };
  return { pointer, key, refused: `Secret ${key} is itself refused: until it is right, the user can't log in` };
}
