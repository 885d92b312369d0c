// An order of the operator to copy stored data of one Project into another one of its namespace,
// and what a replica says of it. None of it has values of an object.

import { copyingLockKey, copyProgressKey } from "./config-keys.ts";
import { orderKind } from "./order-kind.ts";
import type { ProjectRef } from "./types.ts";

export interface CopyOrder {
  /** Copied into. */
  readonly project: ProjectRef;
  /** Of that Project. */
  readonly uid: string;
  /** Copied from; of the same namespace. */
  readonly source: { readonly name: string; readonly uid: string };
  readonly resources: readonly string[];
  readonly rootKeys: readonly string[];
  /** Left out: a resource, and the path of a field in it. */
  readonly omit: readonly OmittedField[];
  /** How far the order had come in whose place it is; absent = it begins. */
  readonly progress?: CopyProgress;
  /** It only keeps how far it had come: nothing may be copied now. Absent = it is carried out. */
  readonly isHeld?: true;
}

export interface OmittedField {
  readonly resource: string;
  readonly path: readonly string[];
}

/** An object or value that was not copied. */
export interface NotCopied {
  /** Of an object, with `id`; else a root key's value. */
  readonly resource?: string;
  readonly id?: string;
  readonly rootKey?: string;
  /** RFC 6901 pointer to the first place at fault; absent = none is. */
  readonly pointer?: string;
  /** A keyword of the schema, or a code of an error, such as `not_unique`. */
  readonly reason: string;
}

export interface CopyFigures {
  /** Objects and root keys' values that are there now. */
  readonly copied: number;
  readonly refused: number;
  /** The first ones of these, at most `maxNotCopied`. */
  readonly examples: readonly NotCopied[];
}

/** `at` = how many of the resources, and then root keys, are done. */
export type CopyProgress = CopyFigures & {
  readonly at: number;
  /** Id of the object of the next resource that came last; absent = none did. */
  readonly after?: string;
  /** A limit or quota of the Project has no room for the next object. */
  readonly isFull?: true;
};

/** `endedAt` in Unix milliseconds. */
export type CopyResult = CopyFigures & { readonly endedAt: number };

export const maxNotCopied = 5;

/** How much was copied of a Project, how much was not, and an example of that. */
export function describeCopied(
  source: string | undefined,
  { copied, refused, examples: [example] = [] }: Pick<CopyFigures, "copied" | "refused"> & Partial<CopyFigures>,
): string {
  const done = `Objects and values copied from Project "${source}": ${copied}`;
  if (refused === 0 || example === undefined) return done;
  const { resource, id, rootKey, pointer, reason } = example;
  const what = rootKey === undefined ? `${resource}/${id}` : `the value of ${rootKey}`;
  return `${done}; not copied: ${refused}, such as ${what}${pointer === undefined ? "" : ` at ${pointer || "/"}`} (${reason})`;
}

export const copies = orderKind<CopyOrder, CopyProgress, CopyResult>({
  what: "copy",
  progressKey: copyProgressKey,
  lockKey: copyingLockKey,
  isOrder: ({ uid, source, resources, rootKeys, omit }) =>
    [uid, source?.name, source?.uid].every((name) => typeof name === "string") &&
    [resources, rootKeys, omit].every(Array.isArray),
  isProgress: (read) => typeof read.at === "number" && hasFigures(read),
  isResult: hasFigures,
});

function hasFigures({ copied, refused, examples }: Partial<CopyFigures>): boolean {
  return typeof copied === "number" && typeof refused === "number" && Array.isArray(examples);
}
