// JSON Merge Patch (RFC 7396) on canonical JSON text: an object's members are merged at every
// depth, null removes one, and anything but an object replaces the value. Refuses with PatchRefusal
// what takes too much work.

import { EditableObject, type EditableValue, openedContainer, textOf } from "./editable.ts";
import { kindOf, membersOf } from "./members.ts";
import { memberCost, PatchWork } from "./patch-refusal.ts";

/** `target` as `patch` leaves it; undefined = nothing is there yet. */
export function mergePatch(target: string | undefined, patch: string): string {
  const root: EditableValue = { content: target ?? "null" };
  merge(root, patch, new PatchWork());
  return textOf(root);
}

function merge(target: EditableValue, patch: string, work: PatchWork): void {
  if (kindOf(patch) !== "object") {
    target.content = patch;
    return;
  }
  work.spend(patch.length);
  const members = membersInto(target, work);
  for (const { name, valueStart, valueEnd } of membersOf(patch)) {
    work.spend(memberCost);
    const value = patch.slice(valueStart, valueEnd);
    if (value === "null") members.delete(name);
    else mergeMember(members, name, value, work);
  }
}

function mergeMember(members: EditableObject, name: string, patch: string, work: PatchWork): void {
  const present = members.get(name);
  const member = present ?? { content: "null" };
  if (present === undefined) members.set(name, member);
  merge(member, patch, work);
}

/** The members of `target`; what is no object becomes an empty one. */
function membersInto(target: EditableValue, work: PatchWork): EditableObject {
  const present = openedContainer(target, work);
  if (present instanceof EditableObject) return present;
  const members = new EditableObject("{}", work);
  target.content = members;
  return members;
}
