// Turns all objects of one kind into the entries of the project: names are awarded, each object is
// evaluated by itself, and the last good version of a refused one stays. A refusal never reaches a
// neighbour.

import type { Child } from "../model/objects.ts";
import { byName, isDeleting } from "../model/project-objects.ts";
import { type Evaluation, type Refusal, refuse, type Subject, type Verdict } from "../model/verdict.ts";
import { awardNames } from "./award-names.ts";

interface Published {
  readonly uid: string;
}

/**
 * What differs between the kinds. `C` is a config; an object makes one, or, for keys, one per live
 * key.
 */
export interface ChildKind<O extends Child, C extends Published> {
  /** The name that only one object of the project may have, and the field that says it. */
  readonly nameOf: (object: O) => string;
  readonly nameField: string;
  /**
   * True while data that an earlier object of the name left are being deleted; absent for kinds
   * without data.
   */
  readonly isBeingPurged?: (name: string) => boolean;
  /** By UID, what the platform's rules forbid; absent for kinds without rules. */
  readonly notAllowed?: ReadonlyMap<string, Refusal> | undefined;
  /** `lastGood` = what is published of this very object, by UID. */
  readonly compile: (object: O, lastGood: readonly C[]) => Evaluation<readonly C[]>;
  /** Key in the map of the project's parts. */
  readonly keyOf: (config: C) => string;
  /** The same map, as it was published last. */
  readonly published: ReadonlyMap<string, C>;
}

export interface CompiledChildren<C> {
  readonly entries: ReadonlyMap<string, C>;
  readonly verdicts: readonly Verdict[];
}

export function compileChildren<O extends Child, C extends Published>(
  objects: readonly O[],
  kind: ChildKind<O, C>,
): CompiledChildren<C> {
  const entries = new Map<string, C>();
  const verdicts: Verdict[] = [];
  const present = objects.filter((object) => !isDeleting(object));
  const holders = awardNames(present, kind.nameOf, (name) => kind.published.get(name)?.uid);
  const lastGoodByUid = Map.groupBy(kind.published.values(), ({ uid }) => uid);
  for (const object of [...objects].sort(byName)) {
    const lastGood = lastGoodByUid.get(object.metadata.uid) ?? [];
    const refusal = refusalOf(object, kind, holders.get(kind.nameOf(object)));
    const evaluation = refusal ?? kind.compile(object, lastGood);
    const configs = servedConfigs(object, evaluation, lastGood);
    for (const config of configs) entries.set(kind.keyOf(config), config);
    const subject = subjectOf(object);
    if (evaluation.ok) verdicts.push({ ...subject, accepted: true, notices: evaluation.notices ?? [] });
    else verdicts.push(refused(subject, evaluation.refusal, configs.length > 0));
  }
  return { entries: entries.size === 0 ? noEntries : entries, verdicts };
}

/** One for all the kinds that projects have no object of. */
const noEntries = new Map<string, never>();

export function refused(subject: Subject, refusal: Refusal, live: boolean): Verdict {
  return { ...subject, accepted: false, ...refusal, live };
}

export function subjectOf(object: {
  readonly kind: Subject["kind"];
  readonly metadata: Omit<Subject, "kind">;
}): Subject {
  const { namespace, name, uid } = object.metadata;
  return { kind: object.kind, namespace, name, uid };
}

/** Whatever is wrong with it besides its own spec. */
function refusalOf<O extends Child, C extends Published>(
  object: O,
  { nameOf, nameField, isBeingPurged, notAllowed }: ChildKind<O, C>,
  holder: O | undefined,
): Extract<Evaluation<readonly C[]>, { readonly ok: false }> | undefined {
  if (isDeleting(object)) return refuse("Deleting", "The object is being deleted and is no longer served");
  const name = nameOf(object);
  if (holder !== undefined && holder !== object) {
    const message = `${object.kind} "${holder.metadata.name}" holds the ${nameField} "${name}" already`;
    return refuse("NameConflict", message, `/spec/${nameField}`);
  }
  if (isBeingPurged?.(name) === true) {
    // Whatever was written now would be deleted with the rest.
    const message = `Data that an earlier object named "${name}" left are being deleted; it is served after that`;
    return { ...refuse("PurgePending", message), instead: [] };
  }
  const refusal = notAllowed?.get(object.metadata.uid);
  return refusal && { ok: false, refusal };
}

/**
 * A refused object keeps its last good version served; an object that is being deleted is not
 * served.
 */
export function servedConfigs<C>(
  object: Child,
  evaluation: Evaluation<readonly C[]>,
  lastGood: readonly C[],
): readonly C[] {
  if (evaluation.ok) return evaluation.value;
  if (isDeleting(object)) return [];
  return "instead" in evaluation ? evaluation.instead : lastGood;
}
