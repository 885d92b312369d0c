// Many objects can name one Project that is missing or not accepted: that is one problem, of the
// Project.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { nearest } from "../../core/nearest.ts";
import type { SourcedObject, SourceProblem } from "./source.ts";

/** An object that names the Project, with where it does. */
export interface Referrer extends Pick<SourceProblem, "file" | "line" | "column"> {
  /** `Kind/namespace/name`. */
  readonly subject: string;
  /** Whether an earlier version of it is served meanwhile; absent where nothing is served. */
  readonly isServed?: boolean;
}

export type Referrers = readonly [Referrer, ...Referrer[]];

export function referrerOf({ subject, file, positionOf }: SourcedObject): Referrer {
  return { subject, file, ...positionOf("/spec/projectRef/name") };
}

/** `projects` = those that are there. */
export function missingProject(ref: ProjectRef, referrers: Referrers, projects: readonly ProjectRef[]): SourceProblem {
  const names = projects.filter(({ namespace }) => namespace === ref.namespace).map(({ name }) => name);
  const message = `There is no such Project${hint(ref, names)} ${refer(referrers, "this is fixed")}`;
  return { ...problemOf(ref, referrers, message), isAbsent: true };
}

/** The Project is there; what is wrong with it is said of it. */
export function unacceptedProject(ref: ProjectRef, referrers: Referrers): SourceProblem {
  return problemOf(ref, referrers, `It is not accepted yet. ${refer(referrers, "it is")}`);
}

function problemOf(ref: ProjectRef, [first]: Referrers, message: string): SourceProblem {
  const { file, line, column } = first;
  return { file, line, column, subject: `Project/${keyOfProject(ref)}`, pointer: "", message };
}

const maxShown = 8;

function hint({ namespace, name }: ProjectRef, names: readonly string[]): string {
  const [only, ...others] = names;
  if (only === undefined) return `, and no other in namespace ${namespace}.`;
  const meant = nearest(name, names) ?? (others.length === 0 ? only : undefined);
  return meant === undefined
    ? `; those in namespace ${namespace} are ${listed(names)}.`
    : `: did you mean ${JSON.stringify(meant)}?`;
}

function refer(referrers: Referrers, fixed: string): string {
  const isOne = referrers.length === 1;
  const who = isOne ? `${shortName(referrers[0])} names` : `${referrers.length} objects name`;
  const names = isOne ? "" : `: ${listed(referrers.map(shortName))}`;
  return `${who} it in projectRef${outcome(referrers, fixed)}${names}`;
}

function outcome(referrers: Referrers, fixed: string): string {
  const known = referrers.filter(({ isServed }) => isServed !== undefined);
  if (known.length === 0) return "";
  const isOne = referrers.length === 1;
  const served = known.filter(({ isServed }) => isServed).length;
  if (served === known.length)
    return isOne
      ? " and is still served in its last valid version"
      : " and are still served in their last valid versions";
  const verb = isOne ? "is" : "are";
  if (served === 0) return ` and ${verb} not served until ${fixed}`;
  return ` and ${verb} served as before or not at all until ${fixed}`;
}

/** All of them are in one namespace. */
function shortName({ subject }: Referrer): string {
  const [kind = "", , name = ""] = subject.split("/");
  return `${kind}/${name}`;
}

function listed(names: readonly string[]): string {
  return names.length > maxShown ? `${names.slice(0, maxShown).join(", ")}, …` : names.join(", ");
}
