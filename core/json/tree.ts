// A canonical JSON text that is changed in many places: containers are taken apart only where a change goes into them, and all else
// stays the very text that it was, so that numbers and order stay as they are.

import type { PatchWork } from "./patch-refusal.ts";
import type { Slot } from "./slot.ts";
import { TakenArray } from "./taken-array.ts";
import { TakenObject } from "./taken-object.ts";

/** The container at a slot, ready for changes; undefined when a scalar is there. */
export function opened(slot: Slot, work: PatchWork): TakenObject | TakenArray | undefined {
  const { value } = slot;
  if (value instanceof TakenObject || value instanceof TakenArray) return value;
  const taken = typeof value === "string" ? takenApart(value, work) : undefined;
  if (taken !== undefined) slot.value = taken;
  return taken;
}

function takenApart(text: string, work: PatchWork): TakenObject | TakenArray | undefined {
  switch (text.charAt(0)) {
    case "{":
      return new TakenObject(text, work);
    case "[":
      return new TakenArray(text, work);
    default:
      return undefined;
  }
}
