// One collection or root key whose data nobody serves, as the list shows it, and the words that
// select it.

import type { ProjectRef } from "../../core/config/types.ts";
import { type DataEntry, kindOf } from "../../operator/model/data-inventory.ts";
import { requestName } from "../../operator/stored-data/deletion-requests.ts";

/** Why nobody serves them. */
export type RetainedBecause =
  | "ObjectDeleted"
  | "ProjectDeleted"
  /** The namespace is gone, or another one has its name. */
  | "EarlierNamespace"
  /** Another operator looks after the Project of that name. */
  | "OtherController"
  /** The operator's account may not read the namespace, so the operator does not either. */
  | "NamespaceNotWatched"
  /** The object is there, and is refused or not served for another reason. */
  | "ObjectNotServed";

export interface RetainedItem {
  readonly project: ProjectRef;
  readonly entry: DataEntry;
  readonly because: RetainedBecause;
  /** `Deleting`: it was ordered. `Guarded`: an object of this namespace names the data. */
  readonly state: "Kept" | "Deleting" | "Guarded";
}

/** `NAMESPACE/PROJECT/KIND/NAME`. */
export function nameOf({ project, entry }: RetainedItem): string {
  return requestName(project, entry);
}

/** Whether it may be deleted on request. */
export function isDeletable({ state, because }: RetainedItem): boolean {
  return state === "Kept" && because !== "OtherController" && because !== "NamespaceNotWatched";
}

export interface Choice {
  readonly namespace: string | undefined;
  readonly project: string | undefined;
  /** `NAMESPACE/PROJECT` or `NAMESPACE/PROJECT/KIND/NAME`; none = all. */
  readonly names: readonly string[];
}

/** The words of `names` that select it, `""` if there are none; undefined: not selected. */
export function chosenBy(item: RetainedItem, { namespace, project, names }: Choice): readonly string[] {
  const { project: ref, entry } = item;
  if (namespace !== undefined && ref.namespace !== namespace) return [];
  if (project !== undefined && ref.name !== project) return [];
  if (names.length === 0) return [""];
  const own = [requestName(ref), nameOf(item), `${requestName(ref)}/${kindOf(entry)}s/${entry.name}`].map(
    withLowerKind,
  );
  return names.filter((name) => own.includes(withLowerKind(name)));
}

/** Kinds in any case, as kubectl takes them. */
function withLowerKind(name: string): string {
  const [namespace = "", project = "", kind = "", ...rest] = name.split("/");
  return [namespace, project, kind.toLowerCase(), ...rest].join("/");
}

const namePattern = /^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+(\/(apiresource|rootkey)s?\/[A-Za-z0-9._-]+)?$/i;

/** What is wrong with the first word that can't be a name; undefined when all can. */
export function nameFault(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !namePattern.test(name));
  if (wrong === undefined) return undefined;
  return `${JSON.stringify(wrong)} is not a name of retained data: write NAMESPACE/PROJECT, or NAMESPACE/PROJECT/ApiResource/NAME, NAMESPACE/PROJECT/RootKey/KEY`;
}
