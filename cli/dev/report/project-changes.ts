// Reports objects that name another Project than before, which makes them other objects: their
// users and keys get new secrets. Stored data are reported separately.

import { type DevState, namesAnotherProject, projectSubjectOf, storedObject } from "../data-folder/dev-state.ts";
import { listed } from "./listed.ts";
import type { DevMessage, MessageFacts } from "./messages.ts";

interface Change {
  readonly subject: string;
  readonly from: string;
  readonly to: string;
  /** It has a password or key that was generated. */
  readonly hasSecret: boolean;
}

/** One message for all objects that changed from one Project to another. */
export function projectChanges(before: DevState, now: DevState): readonly DevMessage[] {
  const groups = Map.groupBy(changesOf(before, now), ({ from, to }) => `${from} ${to}`);
  return [...groups.values()].flatMap((changes) => {
    const [first] = changes;
    if (first === undefined) return [];
    const { from, to } = first;
    const text = `${to}: ${list(changes)} now ${verb(changes)} to it instead of ${from}, and ${was(changes)} created again. ${secrets(changes)}`;
    const isTrue = ({ known }: MessageFacts): boolean => known.objects.has(to);
    return [{ text: text.trimEnd(), shown: { level: "note", about: to, isTrue } }];
  });
}

function changesOf(before: DevState, now: DevState): readonly Change[] {
  return [...now.objects].flatMap(([subject, known]) => {
    const former = before.objects.get(subject);
    if (former === undefined || !namesAnotherProject(known.manifest, former.manifest)) return [];
    const object = storedObject(known, known.manifest);
    const hasSecret =
      object.kind === "ApiKey" || (object.kind === "ProjectUser" && object.spec.passwordSecretRef === undefined);
    return [{ subject, from: projectSubjectOf(former.manifest), to: projectSubjectOf(known.manifest), hasSecret }];
  });
}

const maxShown = 8;

function list(changes: readonly Change[]): string {
  const names = changes.map(({ subject }) => subject.replace(/\/.*\//, "/"));
  return listed(names, maxShown);
}

function verb({ length }: readonly Change[]): string {
  return length === 1 ? "belongs" : "belong";
}

function was({ length }: readonly Change[]): string {
  return length === 1 ? "was" : "were";
}

function secrets(changes: readonly Change[]): string {
  return changes.some(({ hasSecret }) => hasSecret)
    ? "Generated passwords and keys are new, in the same files as before; the former ones and all sessions have ended."
    : "";
}
