// JSON Merge Patch (RFC 7396) on canonical JSON text: an object's members are merged in at every depth, null removes one, and anything
// but an object replaces what is there. Refuses with PatchRefusal what takes too much work.

import { kindOf, membersOf } from "./members.ts";
import { memberCost, PatchWork } from "./patch-refusal.ts";
import { type Slot, textOf } from "./slot.ts";
import { TakenObject } from "./taken-object.ts";
import { opened } from "./tree.ts";

/** `target` as `patch` leaves it; undefined = nothing is there yet. */
export function mergePatch(target: string | undefined, patch: string): string {
  const root: Slot = { value: target ?? "null" };
  merge(root, patch, new PatchWork());
  return textOf(root);
}

function merge(slot: Slot, patch: string, work: PatchWork): void {
  if (kindOf(patch) !== "object") {
    slot.value = patch;
    return;
  }
  work.spend(patch.length);
  const members = membersInto(slot, work);
  for (const { name, valueStart, valueEnd } of membersOf(patch)) {
    work.spend(memberCost);
    const value = patch.slice(valueStart, valueEnd);
    if (value === "null") members.delete(name);
    else mergeMember(members, name, value, work);
  }
}

function mergeMember(members: TakenObject, name: string, value: string, work: PatchWork): void {
  const there = members.get(name);
  const slot = there ?? { value: "null" };
  if (there === undefined) members.set(name, slot);
  merge(slot, value, work);
}

/** The slot's members; what is no object becomes an empty one. */
function membersInto(slot: Slot, work: PatchWork): TakenObject {
  const there = opened(slot, work);
  if (there instanceof TakenObject) return there;
  const members = new TakenObject("{}", work);
  slot.value = members;
  return members;
}
